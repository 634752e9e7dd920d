"""Which tools a request declares, their names on the wire, and whether one must be called.

Too many tools are not an error: those that do not fit are left out in a fixed order, and the
report names them. Two tools never share a name on the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import is_
from typing import Any

from msgspec import Raw, Struct

from ...errors import UsageError
from ...ids import IdProjection
from ...model import ToolSpec
from ..options import CHOICES, Options
from .body import encode

STUB_DESCRIPTION = "This tool is no longer available. Do not call it."


class Offer(Struct, frozen=True):
    """The tools of one request."""

    tools: Sequence[ToolSpec]  # the given ones, then stubs for those that only the history calls
    names: dict[str, str]  # on the wire, by their own names
    choice: str  # auto, none, required, a tool's name, or "" to leave it out


def offered_tools(
    tools: Sequence[ToolSpec],
    called: Iterable[str],
    options: Options,
    ids: IdProjection,
    changes: list[str],
    limit: int = 128,
) -> Offer:
    """What a request with these tools declares; `called` are the names that the history calls."""
    _expect_unique(tools)
    kept = _fit_tools(tools, called, options, ids, changes, limit) if len(tools) > limit else tools
    names = ids.tool_names(tool.name for tool in tools)
    stubs = list(_stubs(called, names, ids, limit - len(kept)))
    if stubs:
        known = ", ".join(stub.name for stub in stubs)
        changes.append(f"stub declarations for tools that only the history knows: {known}")
        names |= {stub.name: ids.name(stub.name) for stub in stubs}
    return Offer([*kept, *stubs], names, _tool_choice(options, tools, bool(stubs)))


def kept_declaration(tool: ToolSpec, name: str) -> dict[str, Any]:
    """A declaration as it was written. A custom tool, which the client runs, gets its name on the wire."""
    declaration = tool.declaration or {}
    if not tool.is_function:
        return declaration  # the provider gave it its name
    if isinstance(inner := declaration.get("custom"), dict):  # Chat says it one level deeper than Responses
        return {**declaration, "custom": {**inner, "name": name}}
    return {**declaration, "name": name}


def is_forced(choice: str) -> bool:
    return choice not in ("", "auto", "none")


def _expect_unique(tools: Sequence[ToolSpec]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if not tool.is_function and not _declared_name(tool):
            continue  # a provider's own tool may have no name
        if tool.name in seen:
            raise UsageError(f"tool {tool.name!r} is given twice; names must be unique; rename one")
        seen.add(tool.name)


def _declared_name(tool: ToolSpec) -> Any:
    return (tool.declaration or {}).get("name")


def _fit_tools(
    tools: Sequence[ToolSpec],
    called: Iterable[str],
    options: Options,
    ids: IdProjection,
    changes: list[str],
    limit: int,
) -> list[ToolSpec]:
    """As many as the API takes: the forced one, those that the history calls, then the first ones."""
    known = {ids.name(name) for name in called}
    ranked = sorted(
        tools, key=lambda tool: (tool.name != options.tool_choice, ids.name(tool.name) not in known)
    )
    kept = {tool.name for tool in ranked[:limit]}
    left_out = ", ".join(tool.name for tool in tools if tool.name not in kept)
    changes.append(f"tools left out, since this API takes {limit} (OAC-06): {left_out}")
    return [tool for tool in tools if tool.name in kept]


def _stubs(called: Iterable[str], names: dict[str, str], ids: IdProjection, room: int) -> Iterator[ToolSpec]:
    """Declarations for tools that only the history calls, as long as there is room.

    ANT-25: Anthropic refuses calls in the history without tools. Names are compared as they are on
    the wire: a history from another program may hold a projected name.
    """
    taken = set(names.values())
    for name in called:
        if room > 0 and (spoken := ids.name(name)) not in taken:
            taken.add(spoken)
            room -= 1
            yield _stub(name)


@lru_cache(maxsize=512)
def _stub(name: str) -> ToolSpec:
    return ToolSpec(name, STUB_DESCRIPTION, {"type": "object", "properties": {}})


def _tool_choice(options: Options, tools: Sequence[ToolSpec], has_stubs: bool) -> str:
    choice = options.tool_choice
    if choice == "required" and not tools:
        raise UsageError("tool_choice 'required' needs tools; give some or leave the choice out")
    if choice and choice not in CHOICES and choice not in {tool.name for tool in tools}:
        raise UsageError(
            f"tool_choice names {choice!r}, which is not among the tools; add the tool or change the choice"
        )
    if not tools:
        return "none" if has_stubs else ""  # stubs make the request valid; they must not be called
    return choice or ""


class Declarations:
    """The encoded tools of the last request. They seldom change."""

    def __init__(self, make: Callable[[Offer, Options, list[str]], list[Any]]) -> None:
        self._make = make
        self._tools: Sequence[ToolSpec] = ()
        self._asked: tuple[Any, ...] = ()
        self._changes: list[str] = []
        self._encoded = Raw()

    def of(self, offer: Offer, options: Options, changes: list[str]) -> Raw:
        """The encoded tools; `changes` gets what had to be weakened."""
        asked = (options.strict, options.cache, options.cache_ttl, options.cache_places)
        if asked != self._asked or not are_same(offer.tools, self._tools):
            weakened: list[str] = []
            self._encoded = Raw(encode(self._make(offer, options, weakened)))
            self._tools, self._asked, self._changes = offer.tools, asked, weakened
        changes += self._changes
        return self._encoded


def are_same(tools: Sequence[ToolSpec], others: Sequence[ToolSpec]) -> bool:
    """Whether these are the same objects. Equal values may differ in JSON, where 1 is not true."""
    return len(tools) == len(others) and all(map(is_, tools, others))
