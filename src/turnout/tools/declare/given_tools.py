"""What users give as tools, made into tools: functions, methods, callable objects, declarations, sets.

`(declaration, function)` is one tool, described by the first and run by the second. Lists and sets may
stand among the tools.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...errors import UsageError
from ...model import ToolSpec
from .declared import declared_specs, is_declaration
from .tool import Tool
from .tool import tool as make_tool

WAYS = "a function, an object with __call__, a declaration (dict), (declaration, function), or a ToolSet"


def split_tools(given: Iterable[Any]) -> tuple[list[Tool], tuple[ToolSpec, ...]]:
    """The tools that a session runs or hands out, and the declarations of tools that a provider runs."""
    ours: list[Tool] = []
    theirs: list[ToolSpec] = []
    for each in _single_items(given):
        if is_declaration(each):
            for spec in declared_specs(each):
                if spec.is_function:
                    ours.append(make_tool(spec))
                else:
                    theirs.append(spec)
        else:
            ours.append(tool_of(each))
    return ours, tuple(theirs)


def tools_of(given: Iterable[Any], options: Mapping[str, Any]) -> Iterator[Tool]:
    """The tools of a list. `options` are those of `@tool`, for what is not a tool yet."""
    for each in _single_items(given):
        if is_declaration(each):
            yield from (make_tool(spec, **options) for spec in declared_specs(each))
        else:
            yield tool_of(each, **options)


def tool_of(given: Any, **options: Any) -> Tool:
    """The tool that one thing is: a tool, a function, or a pair of declaration and function."""
    if _is_pair(given):
        declaration, function = given
        return make_tool(_checked_callable(function), declaration=declaration, **options)
    if isinstance(given, Tool):
        _checked_callable(given.function)
        return given
    return make_tool(_checked_callable(given), **options)


def _single_items(given: Iterable[Any]) -> Iterator[Any]:
    for each in given:
        if _is_list(each):
            yield from _single_items(each)
        else:
            yield each


def _is_list(given: Any) -> bool:
    is_single = is_declaration(given) or _is_pair(given) or callable(given)
    return not is_single and isinstance(given, Iterable) and not isinstance(given, str | bytes)


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and is_declaration(given[0]) and callable(given[1])


def _checked_callable(given: Any) -> Any:
    if inspect.isclass(given):
        raise UsageError(f"{given.__name__} is a class, not a tool; give ToolSet({given.__name__}(…))")
    if not callable(given):
        raise UsageError(f"{given!r} is not a tool; give {WAYS}")
    if _lacks_object(given):
        raise UsageError(f"{given.__qualname__} has no object to work on; give object.{given.__name__}")
    return given


def _lacks_object(given: Any) -> bool:
    """Whether this is a method that was taken from the class."""
    if not inspect.isfunction(given):
        return False
    return next(iter(inspect.signature(given).parameters), "") in ("self", "cls")
