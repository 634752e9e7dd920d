"""A provider is data: its address, how you authenticate, and the dialect that it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ..rendering.image_size import NO_LIMIT, ImageLimit
from ..wire.dialect import Dialect

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "none"]


class Blank(Struct, frozen=True):
    """A word in an address that every customer fills in: a project, a location, a resource."""

    word: str  # as it stands in the address, in capitals
    setting: str  # what it is called in the configuration
    variables: tuple[str, ...]  # the first one that is set counts
    usual: str = ""


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
    path: str = ""  # where requests go, if not at the usual path of the protocol
    stream_path: str = ""  # where requests for a stream go, if that is another path
    serves: tuple[tuple[str, dict[str, Any]], ...] = ()  # models with other fields: the first that fits
    blanks: tuple[Blank, ...] = ()  # words of the address that are filled in
    spellings: tuple[tuple[str, str], ...] = ()  # parts of base URLs that must be written otherwise
    token_source: Literal["", "google", "aws"] = ""  # who is asked, or signs, where no key is set

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

    def serving_model(self, model: str) -> Provider:
        """This provider as it serves the model: other models may have another API there."""
        name = model.lower().rpartition("/")[2]
        found = (changes for pattern, changes in self.serves if fnmatchcase(name, pattern))
        return replace(self, **next(found, {}))

    def fill_blanks(self, given: Mapping[str, str], environment: Mapping[str, str]) -> Provider:
        """This provider with the blanks of its address filled: `given` is by setting, and counts first."""
        made = self
        for blank in self.blanks:
            found = (environment.get(name, "") for name in blank.variables)
            value = given.get(blank.setting, "") or next((text for text in found if text), blank.usual)
            made = made._with_word(blank.word, value.strip().rstrip("/")) if value else made
        return made

    def at_base(self, base_url: str) -> Provider:
        """This provider at another base URL."""
        for usual, other in self.spellings:
            base_url = base_url.replace(usual, other)
        return replace(self, base_url=base_url)

    def _with_word(self, word: str, value: str) -> Provider:
        path, stream_path = self.path.replace(word, value), self.stream_path.replace(word, value)
        made = self.at_base(self.base_url.replace(word, value))
        return replace(made, path=path, stream_path=stream_path)

    @property
    def open_blanks(self) -> tuple[Blank, ...]:
        """The blanks that nothing fills."""
        address = f"{self.base_url} {self.path}"
        return tuple(blank for blank in self.blanks if blank.word in address)
