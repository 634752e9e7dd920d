"""Tools that belong together: of one object, a module or a list; filtered, prefixed, offered when they fit.

files = ToolSet(FileServer(root)).with_prefix("files_").only(lambda tool: tool.risk == "read")
Session(..., tools=[*files, weather])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from ...errors import UsageError
from .given_tools import tools_of
from .tool import Tool, ToolOffer


class ToolSet:
    """A list of tools that can be cut and renamed as a whole. It never changes; each method gives another.

    `source` is an object (its public methods), or an iterable of functions, tools and declarations.
    `options` are those of `@tool`, for all that are not tools yet.
    """

    def __init__(self, source: Any, **options: Any) -> None:
        self._tools = tuple(_tools_of(source, options))
        if not self._tools:
            raise UsageError(f"{source!r} has no public method or function to make tools of; give another")

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in order."""
        return tuple(tool.name for tool in self._tools)

    def only(self, keep: Callable[[Tool], bool]) -> ToolSet:
        """Only the tools that `keep` accepts."""
        return self._with_tools(tool for tool in self._tools if keep(tool))

    def with_prefix(self, prefix: str) -> ToolSet:
        """The tools under names with a prefix, so that two sets can stand in one session."""
        return self._with_tools(tool.with_name(prefix + tool.name) for tool in self._tools)

    def offered_when(self, when: Callable[[ToolOffer], bool]) -> ToolSet:
        """The tools, offered to the model only in requests for which `when` says so."""
        return self._with_tools(replace(tool, offered=when) for tool in self._tools)

    def __add__(self, other: Iterable[Any]) -> ToolSet:
        return self._with_tools((*self._tools, *_tools_of(other, {})))

    def _with_tools(self, tools: Iterable[Tool]) -> ToolSet:
        made = object.__new__(ToolSet)
        made._tools = tuple(tools)
        return made


def _tools_of(source: Any, options: dict[str, Any]) -> Iterator[Tool]:
    listed = source if isinstance(source, Iterable) else _public_methods(source)
    yield from tools_of(listed, options)


def _public_methods(owner: Any) -> Iterator[Any]:
    """The methods and tools of an object, in the order of its class; functions of a module."""
    if inspect.ismodule(owner):
        found = (value for value in vars(owner).values() if _is_of_module(value, owner))
        yield from found
        return
    names = [name for base in reversed(type(owner).__mro__[:-1]) for name in vars(base)]
    for name in dict.fromkeys(names):
        if name.startswith("_"):
            continue
        value = getattr(type(owner), name)
        if isinstance(value, Tool) or inspect.isfunction(value):
            yield getattr(owner, name)


def _is_of_module(value: Any, module: Any) -> bool:
    if isinstance(value, Tool):
        return True
    is_own = inspect.isfunction(value) and value.__module__ == module.__name__
    return is_own and not value.__name__.startswith("_")
