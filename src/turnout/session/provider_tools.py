"""Tools of a session that a provider runs: neutral declarations, and those in a provider's own form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..declarations import specs_of
from ..hosted_tools import hosted_kind
from ..model import ToolSpec

REMOTE = ("mcp", "mcp_toolset")
FUNCTIONS = ("function", "custom")


def provider_tools_in(tools: Iterable[Any]) -> tuple[ToolSpec, ...]:
    """The declarations among the tools that a session was given."""
    return tuple(spec for tool in tools if is_provider_tool(tool) for spec in specs_of([tool]))


def is_provider_tool(tool: Any) -> bool:
    """Whether this declares a tool that a provider runs. Functions need code that runs here."""
    if isinstance(tool, ToolSpec):
        return not tool.is_function
    if not isinstance(tool, Mapping):
        return False
    return _is_gemini_tool(tool) if tool.get("type") in (None, *FUNCTIONS) else "function" not in tool


def is_remote(spec: ToolSpec) -> bool:
    """Whether its effects are not known: it is a server of someone else."""
    return spec.kind in REMOTE or hosted_kind(spec) in REMOTE


def _is_gemini_tool(tool: Mapping[str, Any]) -> bool:
    """Such as {"googleSearch": {}}: an object of objects, and no functions."""
    return bool(tool) and all(
        isinstance(value, Mapping) and "unction" not in name for name, value in tool.items()
    )
