"""The tools that a request body declares, for all formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...declarations import read_declaration
from ...model import ToolSpec
from ...plain import dumps
from . import converse
from .message_parts import ReadContext, list_of

FIELDS = ("tools", "functions")
"""The fields that declare tools; `functions` is the older form of Chat."""

LONGEST = 200
"""How much of an unreadable declaration a diagnostic shows."""


def declared_tools(body: dict[str, Any], api: str, context: ReadContext) -> list[ToolSpec]:
    """One tool per name, the first that was declared; also tools that the provider runs."""
    by_name: dict[tuple[str, str], ToolSpec] = {}
    for spec in _read_tools(body, api, context):
        known = by_name.setdefault(_key_of(spec), spec)
        if known != spec:
            context.report("repeated_tool", spec.name)
    return list(by_name.values())


def _read_tools(body: dict[str, Any], api: str, context: ReadContext) -> Iterator[ToolSpec]:
    def unreadable(what: str) -> None:
        context.report("unreadable_tool", what)

    listed = [entry for field in FIELDS for entry in list_of(body.get(field))]
    for tool in [*listed, *converse.declarations(body.get("toolConfig"))]:
        specs = (
            list(read_declaration(tool, context.origin, api, unreadable)) if isinstance(tool, dict) else []
        )
        if not specs and not _is_empty(tool):
            unreadable(dumps(tool)[:LONGEST])
        yield from specs


def _is_empty(tool: Any) -> bool:
    """Clients of Gemini send empty lists of functions."""
    return isinstance(tool, dict) and not any(tool.values())


def _key_of(spec: ToolSpec) -> tuple[str, str]:
    """Functions differ by name; a provider may have several tools of one kind (MCP servers)."""
    return (spec.kind, spec.name) if spec.is_function else (spec.kind, dumps(spec.declaration))
