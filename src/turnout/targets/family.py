"""What only one API has, and what every API takes.

Private fields of a request and a provider's own tools go back to the API they were written
for: the same protocol, at a provider of the same family. Claude's makers count as its family on
Vertex and behind InvokeModel, which take Anthropic's own body. Requests to other targets go
without them, and the report names each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..declarations import NO_ORIGIN
from ..diagnostic import Diagnostic
from ..hosted_tools import hosted_kind
from ..model import Origin, Residue, ToolSpec
from ..plain import plain
from ..providers import PROVIDERS
from ..wire.options import CHOICES, Options
from ..wire.shared.added_fields import paths_in, private_fields, without_private_field
from .hosted_selection import NeutralDeclaration, choose_hosted, neutral_declaration
from .target import Target

SEARCH = "web_search_options"
SAME_BODY = {"invoke": "anthropic"}
"""Protocols whose body is that of another one."""
WITH_CACHE_MARKERS = ("anthropic", "invoke", "converse")


class ToolSelection(Struct, frozen=True):
    """The tools that a target gets, and those that had to be left out."""

    tools: tuple[ToolSpec, ...]
    changes: tuple[str, ...] = ()
    dropped: tuple[ToolSpec, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(Diagnostic("render", "dropped_tool", detail=_title(tool)) for tool in self.dropped)


def select_tools(specs: Iterable[ToolSpec], place: Target) -> ToolSelection:
    """The tools in the form that this target takes."""
    specs = tuple(specs)
    if specs and not place.facts.tools:
        why = f"tools left out: {place.model} knows none, and reads earlier calls in words"
        return ToolSelection((), (why,), specs)
    picked = _PickedTools(specs, place)
    for spec in specs:
        picked.add(spec)
    return picked.selection()


class _PickedTools:
    """The tools of one request, as they are picked one by one."""

    def __init__(self, specs: tuple[ToolSpec, ...], place: Target) -> None:
        self.place = place
        self.functions = {spec.name for spec in specs if spec.is_function}
        self.others = sum(not spec.is_function for spec in specs) - 1
        self.tools: list[ToolSpec] = []
        self.changes: list[str] = []
        self.dropped: list[ToolSpec] = []
        self.taken: set[str] = set()  # names of tools that the provider runs

    def add(self, spec: ToolSpec) -> None:
        if hosted_kind(spec):
            self._add_hosted(spec, NeutralDeclaration(spec))
        elif spec.residue is None or _is_own_tool(spec, spec.residue, self.place):
            self.tools.append(spec)
        elif spec.is_function:
            self.tools.append(replace(spec, residue=None))
            self.changes += _lost_details(spec)
        elif (known := neutral_declaration(spec)) is not None:
            self._add_hosted(spec, known)
        else:
            self._drop_tool(spec, f"{self.place.provider.name} does not have it")

    def _add_hosted(self, spec: ToolSpec, read: NeutralDeclaration) -> None:
        """Add a tool that the provider runs. What is left out is named in the words of the declaration."""
        choice = choose_hosted(read.tool, self.place, self.functions, self.others)
        if choice.why:
            self._drop_tool(spec, choice.why)
            return
        self.changes += choice.changes
        if choice.tool is not None:
            self.tools.append(choice.tool)
            self.taken |= choice.names
        lost = dict.fromkeys([*(read.words.get(name, name) for name in choice.left_out), *read.unread])
        if lost:
            who = choice.local or self.place.provider.name
            self.changes.append(f"{_title(spec)}: {', '.join(lost)} left out: {who} does not take it")

    def _drop_tool(self, spec: ToolSpec, why: str) -> None:
        self.dropped.append(spec)
        self.changes.append(f"dropped_tool {_title(spec)}: {why}")

    def selection(self) -> ToolSelection:
        """A function that the provider runs itself here is left out: two tools cannot share a name."""
        hidden = [tool for tool in self.tools if tool.is_function and tool.name in self.taken]
        self.changes += [f"tool {tool.name} left out: {self.place.provider.name} runs it" for tool in hidden]
        tools = [tool for tool in self.tools if not any(tool is other for other in hidden)]
        return ToolSelection(tuple(tools), tuple(self.changes), tuple(self.dropped))


def select_options(
    asked: Options, kept: ToolSelection, place: Target, changes: list[str], *, forgives: bool
) -> Options:
    """The options without fields of another API and without the choice of a dropped tool.

    An inbound request may force a call where the target cannot be forced. That is weakened to
    "auto" if `forgives`: the caller did not ask for it explicitly.
    """
    if "tools" in asked.extra:
        asked = replace(asked, extra={name: value for name, value in asked.extra.items() if name != "tools"})
    if asked.private is not None and not is_own(asked.private, place):
        whose = f"only the API of {asked.private.origin.provider} has it"
        changes += [f"{path} left out: {whose}" for path in paths_in(private_fields(asked))]
        asked = replace(asked, private=None)
    for name in [name for name in private_fields(asked) if name in place.dialect.lacks]:
        changes.append(f"{name} left out: {place.provider.name} does not have it")
        asked = without_private_field(asked, name)
    if SEARCH in private_fields(asked) and not place.dialect.takes_search:
        changes.append(f"OAC-17 {SEARCH} left out: {place.model} does not search")
        asked = without_private_field(asked, SEARCH)
    if asked.cache_places is not None and place.api not in WITH_CACHE_MARKERS:
        changes.append("cache_places left out: this API has no cache markers")
    asked = _without_unforced_choice(asked, kept, place, changes)
    choice = asked.tool_choice
    gone = {tool.name for tool in kept.dropped}
    if choice and choice not in ("auto", "none") and not kept.tools and gone:
        changes.append(f"tool_choice {choice} left out: no tool is left to be called")
        return replace(asked, tool_choice=None)
    if choice in gone and choice not in CHOICES:
        changes.append(f"tool_choice {choice} left out: that tool was dropped")
        return replace(asked, tool_choice=None)
    if forgives and choice and choice not in ("auto", "none") and not can_force_tools(place):
        changes.append(f"tool_choice {choice} sent as auto: {place.model} cannot be forced to call a tool")
        return replace(asked, tool_choice="auto")
    return asked


def _without_unforced_choice(
    asked: Options, kept: ToolSelection, place: Target, changes: list[str]
) -> Options:
    """The options without the choice of a tool that the provider runs, where only functions can be forced."""
    choice = asked.tool_choice
    if place.api not in ("chat", "gemini") or choice in (None, *CHOICES):
        return asked
    if not any(tool.name == choice and not tool.is_function for tool in kept.tools):
        return asked
    changes.append(f"tool_choice {choice} sent as auto: {place.model} can be forced to call functions only")
    return replace(asked, tool_choice="auto")


def can_force_tools(place: Target) -> bool:
    """Whether the model can be forced to call a tool."""
    return place.dialect.forces_tools and place.facts.forced_tools


def with_extra_tools(
    specs: Sequence[ToolSpec], extra: Mapping[str, Any], place: Target
) -> Sequence[ToolSpec]:
    """The tools, and those in `extra`: these are sent as they are, also in place of one of the same name."""
    if (listed := extra.get("tools")) is None:
        return specs
    added = [_verbatim(entry, place) for entry in (listed if isinstance(listed, list | tuple) else [listed])]
    names = {tool.name for tool in added}
    return (*(spec for spec in specs if spec.name not in names), *added)


def is_own(residue: Residue, place: Target) -> bool:
    """Whether private state of a request goes to this target."""
    home = place.provider.family or place.provider.name
    return _body_of(_api_of(residue)) == _body_of(place.api) and family(residue.origin) == home


def family(origin: Origin) -> str:
    """The provider whose API this one has for the model: its own, or that of its family."""
    known = PROVIDERS.get(origin.provider)
    if known is None:
        return origin.provider
    return known.at(origin.endpoint).serving_model(origin.model).family or known.name


def _body_of(api: str) -> str:
    return SAME_BODY.get(api, api)


def _is_own_tool(spec: ToolSpec, residue: Residue, place: Target) -> bool:
    if not spec.is_function and not place.dialect.takes_declared(spec.kind):
        return False
    if residue.origin != NO_ORIGIN:
        return is_own(residue, place)
    api = _api_of(residue)
    if api or spec.is_function:
        return api == place.api
    return place.dialect.has_tool(spec.kind)


def _api_of(residue: Residue) -> str:
    api = residue.data.get("api") if isinstance(residue.data, dict) else None
    return api if isinstance(api, str) else ""


def _title(spec: ToolSpec) -> str:
    if hosted_kind(spec):
        return spec.name
    return spec.name if spec.name == spec.kind else f"{spec.name} ({spec.kind})"


def _lost_details(spec: ToolSpec) -> Iterator[str]:
    """What one API says of a function and others cannot."""
    within = spec.beside.get("function")
    names = [
        *(name for name in spec.beside if name != "function"),
        *(within if isinstance(within, dict) else ()),
    ]
    if spec.declaration is not None:
        names += [name for name in spec.declaration if name in ("format", "custom")]
    if spec.namespace:
        names.append(f"namespace {spec.namespace.get('name')}")
    if names:
        yield f"tool {spec.name}: {', '.join(names)} left out: another API's words"


def _verbatim(entry: Any, place: Target) -> ToolSpec:
    declaration = plain(entry)
    fields = declaration if isinstance(declaration, dict) else {}
    inner = fields.get("function")
    name = (inner if isinstance(inner, dict) else fields).get("name")
    kind = fields.get("type") or next(iter(fields), "tool")
    residue = Residue(place.origin, {"api": place.api, "declaration": declaration})
    return ToolSpec(name if isinstance(name, str) else str(kind), kind=str(kind), residue=residue)
