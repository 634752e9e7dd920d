"""A target: a provider, its endpoint and a model, found by a name such as `openai:gpt-5.2`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ..errors import UsageError
from ..model import Origin
from ..parameters import check_names
from ..providers import find_provider
from ..providers.known_facts import known_facts
from ..providers.provider import Provider
from ..wire.dialect import Dialect
from ..wire.options import Options
from ..wire.protocol import Protocol, find_protocol
from ..wire.request import ModelFacts
from .additions import checked_extra, checked_headers, checked_query

Route = Literal["fixed", "failover", "round-robin"]
"""How a session chooses among several targets."""


class Target(Struct, frozen=True):
    """A place to send to: a provider, its endpoint, a model."""

    origin: Origin
    provider: Provider
    dialect: Dialect
    facts: ModelFacts
    headers: dict[str, str] = field(default_factory=dict)  # added to every request
    query: dict[str, str] = field(default_factory=dict)  # added to the address
    options: dict[str, Any] = field(default_factory=dict)  # of every request, below those that it is given
    placed: bool = True  # False: a session may still put it at the address that the environment names

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.origin.model

    @property
    def api(self) -> str:
        """The protocol that is spoken there: chat, responses, anthropic, gemini."""
        return self.dialect.api

    @property
    def protocol(self) -> Protocol:
        """The API that the target speaks."""
        return find_protocol(self.dialect.api)


def target(
    name: str | Origin,
    *,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    base_url: str = "",
    project: str = "",
    **options: Any,
) -> Target:
    """A target that adds headers, a query, fields of the body (`extra`) or options to every request.

    Keys do not belong here: what looks like one is refused. Give them with `api_key=`, in a variable
    or with `turnout login`.
    """
    check_names("target()", "option", options, Options.__struct_fields__)
    wanted = {**options, "extra": checked_extra(extra)} if extra else options
    Options.of(wanted)  # so that a mistake is found at once
    return replace(
        find_target(name, base_url=base_url, project=project),
        headers=checked_headers(headers),
        query=checked_query(query),
        options=wanted,
        placed=bool(base_url),
    )


def find_target(
    name: str | Origin | Target,
    *,
    base_url: str = "",
    endpoint: str = "",
    project: str = "",
    address: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Target:
    """Read `provider:model` or `provider@endpoint:model`.

    Some addresses have words that every customer fills in (`Provider.blanks`). `address` gives them
    by their settings; else the environment does, if it is given.
    """
    if isinstance(name, Target):
        return name
    origin = Origin.parse(name)
    found = find_provider(origin.provider).at(origin.endpoint).serving_model(origin.model)
    if not found.is_spoken(origin.model):
        raise UsageError(
            f"{found.name} serves {origin.model} through an API that turnout does not support; name "
            "another provider of it, such as 'anthropic:MODEL' for Claude, or 'openrouter:MODEL'"
        )
    if base_url:
        found = found.at_base(base_url.rstrip("/"))
    if environment is not None or address or project:
        known = {"project": project, **(address or {})}
        found = found.fill_blanks(known, environment or {})
    if project:
        found = replace(found, project=project)
    origin = Origin(found.name, endpoint or origin.endpoint, origin.model)
    dialect = found.speaks(origin.model)
    return Target(origin, found, dialect, replace(known_facts(origin), **dialect.model_facts))


def with_dialect(target: Target, changes: Mapping[str, Any], name: str) -> Target:
    """The target with these fields of its dialect changed, as a configuration file gives them."""
    known = target.dialect.__struct_fields__
    if unknown := [field for field in changes if field not in known]:
        raise UsageError(
            f"[targets.{name}.dialect] has no field {unknown[0]!r}; known are {', '.join(sorted(known))}"
        )
    given = {**changes, **({"reasoning_field": None} if changes.get("reasoning_field") == "" else {})}
    try:
        dialect = msgspec.convert({**msgspec.to_builtins(target.dialect), **given}, type(target.dialect))
    except msgspec.ValidationError as error:
        raise UsageError(f"[targets.{name}.dialect] has a wrong value: {error}; change it") from None
    return replace(target, dialect=dialect)
