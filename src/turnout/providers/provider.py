"""A provider is data: its address, how you authenticate, and the dialect that it speaks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ..rendering.image_size import NO_LIMIT, ImageLimit
from ..wire.dialect import Dialect

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "none"]


class Provider(Struct, frozen=True, kw_only=True):
    """The address of a provider and how to speak to it."""

    name: str
    family: str = ""  # the provider whose API this is, if it is not its own
    base_url: str
    dialect: Dialect
    key_variables: tuple[str, ...] = ()
    base_url_variable: str = ""
    auth: Auth = "bearer"
    headers: dict[str, str] = field(default_factory=dict)
    overrides: tuple[tuple[str, Dialect], ...] = ()  # first pattern that fits the model's name
    aliases: tuple[str, ...] = ()
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)  # endpoints with other fields
    serves_one: bool = False  # answers with the model that is loaded, so a target needs no model
    envelope: Literal["", "code-assist"] = ""
    project: str = ""  # the account that pays; sent in the envelope
    project_variable: str = ""
    images: ImageLimit = NO_LIMIT  # how large one image may be
    vision_header: str = ""  # must be "true" where a request shows images
    initiator_header: str = ""  # who caused this request: "user", or "agent" inside a tool loop
    trial_path: str = "/models"  # after the base URL: answers only with a valid key; "" if nothing does
    unspoken_models: tuple[str, ...] = ()  # patterns of models it serves through an API we do not speak

    def speaks(self, model: str) -> Dialect:
        """The dialect for a model: its family's where this provider carries several."""
        name = model.lower()
        for pattern, dialect in self.overrides:
            if fnmatchcase(name, pattern):
                return dialect
        return self.dialect

    def is_spoken(self, model: str) -> bool:
        """Whether this provider serves the model through an API that we speak."""
        name = model.lower().rpartition("/")[2]
        return not any(fnmatchcase(name, pattern) for pattern in self.unspoken_models)

    def at(self, endpoint: str) -> Provider:
        """This provider as the endpoint of that name knows it."""
        return replace(self, **self.variants[endpoint]) if endpoint in self.variants else self
