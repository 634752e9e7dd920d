"""Tools that a provider runs, in the form that one target takes, or why the target cannot have them.

A declaration of another API is read into neutral words first, so that a target with the same
ability gets its own form. A target without the ability uses the local tool of the same name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from ..declarations import NO_ORIGIN
from ..hosted_tools import NEEDED, PREFIX, HostedForm, hosted_kind
from ..model import Residue, ToolSpec
from ..providers import PROVIDERS
from .target import Target

LOCAL_NAMES = {"url_context": ("web_fetch", "fetch")}
"""Local tools that do the same under another name."""


class HostedChoice(Struct, frozen=True):
    """What becomes of one such tool at one target: its declaration, a local tool, or neither."""

    tool: ToolSpec | None = None
    local: str = ""  # the function that does it
    changes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # neutral options that are not taken there
    why: str = ""  # why the target does not get it

    @property
    def names(self) -> set[str]:
        """The names that a function beside it must not have."""
        declared = (self.tool.declaration or {}).get("name") if self.tool is not None else None
        return {self.tool.name, str(declared)} if self.tool is not None else set()


class NeutralDeclaration(Struct, frozen=True):
    """A provider's own declaration, read into neutral words."""

    tool: ToolSpec
    unread: tuple[str, ...] = ()  # fields that have no neutral name
    words: dict[str, str] = {}  # what the declaration calls each neutral option


def choose_hosted(spec: ToolSpec, place: Target, functions: Collection[str], others: int) -> HostedChoice:
    """The neutral declaration for this target. `others` is how many such tools the request has besides."""
    kind = hosted_kind(spec)
    form, why = _fitting_form(kind, place, bool(functions), others)
    if form is not None:
        return _declared_choice(spec, form, place)
    local = next((name for name in (spec.name, kind, *LOCAL_NAMES.get(kind, ())) if name in functions), "")
    if local:
        told = f"{spec.name} runs as the local tool {local}: {why}"
        return HostedChoice(local=local, changes=(told,), left_out=tuple(spec.parameters))
    return HostedChoice(why=why)


def neutral_declaration(spec: ToolSpec) -> NeutralDeclaration | None:
    """A provider's own declaration in neutral words; None if no form is known that reads it."""
    declaration, residue = spec.declaration, spec.residue
    if declaration is None or residue is None:
        return None
    for form in _forms_of_source(residue):
        if not form.reads(spec.kind):
            continue
        options, unread = form.read_options(declaration)
        if any(not options.get(name) for name in NEEDED.get(form.kind, ())):
            return None
        name = spec.name if form.kind == "mcp" else form.kind
        neutral = ToolSpec(name, parameters=options, kind=f"{PREFIX}{form.kind}")
        words = {option: form.field_of(option) for option in options}
        return NeutralDeclaration(neutral, tuple(unread), words)
    return None


def _fitting_form(
    kind: str, place: Target, has_functions: bool, others: int
) -> tuple[HostedForm | None, str]:
    forms = [form for form in place.dialect.hosted if form.kind == kind]
    fitting = next((form for form in forms if form.serves(place.model)), None)
    if fitting is None:
        return None, f"{place.model if forms else place.provider.name} does not have it"
    if has_functions and not place.dialect.mixes_tools(signs=place.facts.signatures):
        return None, f"{place.model} takes it only without functions"
    if fitting.alone and others:
        return None, f"{place.model} takes it only alone"
    return fitting, ""


def _declared_choice(spec: ToolSpec, form: HostedForm, place: Target) -> HostedChoice:
    options = spec.parameters
    data: dict[str, Any] = {"api": place.api, "declaration": form.declaration(options)}
    if request := form.request_fields(options):
        data["request"] = request
    tool = ToolSpec(spec.name, kind=form.type, residue=Residue(place.origin, data))
    return HostedChoice(tool, left_out=tuple(form.not_taken(options)))


def _forms_of_source(residue: Residue) -> Iterator[HostedForm]:
    """The forms that a declaration may have: of its provider, else of every provider with its API."""
    data = residue.data if isinstance(residue.data, dict) else {}
    api = data.get("api")
    own = PROVIDERS.get(residue.origin.provider)
    if residue.origin != NO_ORIGIN and own is not None and own.dialect.hosted:
        yield from own.dialect.hosted
        return
    for known in PROVIDERS.values():
        if not api or known.dialect.api == api:
            yield from known.dialect.hosted
