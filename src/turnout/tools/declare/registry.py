"""The tools of a session: found by name, offered by mode, gathered in groups.

A model may write a name in another form (`functions.read_file`, `Read File`, `readFile`). If exactly
one tool can be meant, it is used; if none or several can, the answer lists similar names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from msgspec import Struct

from ...errors import UsageError
from ...model import ToolSpec
from .problems import tool_error
from .tool import Tool, ToolOffer

Mode = str
LONGEST_NAME = 128
_CALL_NUMBER = re.compile(r":\d+$")  # KIM-05: Kimi writes ids as functions.read_file:3, also as names
_FLATTENED = re.compile(r"^(?:call_)?functions_?(.+?)\d*$")  # and flattened: call_functionsread_file3


class FoundTool(Struct, frozen=True):
    """The tool that a name means; `repaired` when the name was written in another form."""

    tool: Tool
    repaired: bool = False


class UnknownTool(Struct, frozen=True):
    """No tool has this name; `suggestions` are similar. A `disabled` tool exists but is not offered now."""

    name: str
    suggestions: tuple[str, ...] = ()
    disabled: bool = False

    @property
    def explanation(self) -> str:
        """The error a model reads."""
        shown = self.name if len(self.name) <= LONGEST_NAME else f"{self.name[:LONGEST_NAME]}…"
        if self.disabled:
            return tool_error(
                "disabled_tool", shown, f"{shown} is not available in this mode. It was not run."
            )
        meant = f" Did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        message = f"No tool is called {shown!r}.{meant} Nothing was run."
        return tool_error("unknown_tool", shown, message, suggestions=list(self.suggestions))


class Registry:
    """Tools by name. Groups can be switched off; plan mode offers only what reads."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._spellings: dict[str, list[str]] = {}
        self._off: set[str] = set()
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        if not isinstance(tool, Tool):
            raise UsageError(f"{tool!r} is not a tool; make it one with @tool")
        if tool.name in self._tools:
            raise UsageError(
                f"two tools are called {tool.name!r}; give one another name, or remove the first"
            )
        self._tools[tool.name] = tool
        self._spellings.setdefault(_fold_name(tool.name), []).append(tool.name)

    def remove(self, name: str) -> None:
        """Remove a tool. Calls to it in the history keep their results."""
        if (tool := self._tools.pop(name, None)) is None:
            known = ", ".join(self._tools) or "none"
            raise UsageError(f"there is no tool called {name!r} to remove; known are: {known}")
        self._spellings[_fold_name(tool.name)].remove(name)

    def enable(self, group: str, on: bool = True) -> None:
        """Switch a group of tools on or off."""
        (self._off.discard if on else self._off.add)(group)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def offered_tools(self, mode: Mode = "", offer: ToolOffer | None = None) -> tuple[Tool, ...]:
        """The tools that are offered to the model in this mode, and in the request of this `offer`."""
        shown = (tool for tool in self if self._is_on(tool, mode))
        return tuple(tool for tool in shown if not offer or not tool.offered or tool.offered(offer))

    def specs(self, mode: Mode = "") -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.offered_tools(mode))

    def group(self, name: str) -> tuple[Tool, ...]:
        return tuple(tool for tool in self if name in tool.groups)

    def find(self, name: str, mode: Mode = "") -> FoundTool | UnknownTool:
        """The tool that a model meant by this name, or similar names."""
        tool = self._tools.get(name)
        if tool is None:
            meant = self._guess_name(name)
            tool = self._tools[meant] if meant else None
        if tool is None:
            return UnknownTool(name, self._similar_names(name, mode))
        if not self._is_on(tool, mode):
            return UnknownTool(tool.name, disabled=True)
        return FoundTool(tool, repaired=tool.name != name)

    def _is_on(self, tool: Tool, mode: Mode) -> bool:
        if mode == "plan" and tool.changes_things:
            return False
        return not self._off or not self._off & set(tool.groups)

    def _guess_name(self, name: str) -> str:
        for spelling in _readings(name[:LONGEST_NAME]):
            found = self._spellings.get(_fold_name(spelling), ())
            if len(found) == 1:
                return found[0]
        return ""

    def _similar_names(self, name: str, mode: Mode) -> tuple[str, ...]:
        names = {_fold_name(tool.name): tool.name for tool in self.offered_tools(mode)}
        near = get_close_matches(_fold_name(next(reversed(_readings(name[:LONGEST_NAME])))), names, n=3)
        return tuple(names[spelling] for spelling in near)


def _readings(name: str) -> list[str]:
    """The name as written, then without a call number, then without the prefixes that models add."""
    bare = _CALL_NUMBER.sub("", name.strip())
    flattened = _FLATTENED.match(bare)
    return [name, bare, *([flattened[1]] if flattened else []), re.split(r"[.:/]", bare)[-1]]


def _fold_name(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()
