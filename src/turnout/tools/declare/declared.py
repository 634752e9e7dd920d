"""A declaration as a provider or an MCP server writes it, made the description of a tool.

A declaration says what a model reads. It holds no code: a tool that is made from it alone is handed out,
and one with a function beside it runs that function with the arguments as the model gave them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ...declarations import specs_of
from ...errors import UsageError
from ...model import ToolSpec
from ...plain import plain


def is_declaration(given: Any) -> bool:
    """Whether this is a dict, a `ToolSpec` or an SDK's object that declares tools, and not a function."""
    return isinstance(given, Mapping | ToolSpec) or (hasattr(given, "model_dump") and not callable(given))


def function_spec(declaration: Any) -> ToolSpec:
    """The one function that a declaration describes."""
    spec = ToolSpec.of(declaration)
    if not spec.is_function:
        raise UsageError(f"{spec.name} is run by its provider; give the declaration in tools=[…] as it is")
    return spec


def declared_specs(given: Any) -> tuple[ToolSpec, ...]:
    """All tools of a declaration; a dict of Gemini may hold several, and tools of the provider too."""
    return specs_of([given])


def declared_risk(declaration: Any) -> str:
    """What an MCP server says of its tool. One with hints that does not say it only reads may do more."""
    written = plain(declaration) if declaration is not None else {}
    hints = written.get("annotations") if isinstance(written, Mapping) else None
    if not isinstance(hints, Mapping) or not any(name.endswith("Hint") for name in hints):
        return "read"
    return "read" if hints.get("readOnlyHint") is True else "risky"


def check_function_fits(function: Callable[..., Any], spec: ToolSpec, hidden: set[str]) -> None:
    """A function must take what its declaration names, and need no more; `hidden` comes from the session."""
    parameters = inspect.signature(function).parameters
    declared = set(spec.parameters.get("properties", {}))
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    taken = {name for name, each in parameters.items() if each.kind is not each.VAR_KEYWORD} - hidden
    if not is_open and (more := sorted(declared - taken)):
        raise UsageError(
            f"tool {spec.name}: its declaration has {more[0]!r}; give the function that parameter"
        )
    needed = {name for name in taken if parameters[name].default is inspect.Parameter.empty}
    needed -= {name for name in needed if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL}
    if more := sorted(needed - declared):
        raise UsageError(
            f"tool {spec.name}: its function needs {more[0]!r}; declare it, or give it a default"
        )


def function_not_here(name: str) -> Callable[..., NoReturn]:
    """Stands where a tool without code has its function."""

    def refuse_call(**arguments: Any) -> NoReturn:
        raise UsageError(f"{name} was declared without a function; use session.answer() for its calls")

    return refuse_call
