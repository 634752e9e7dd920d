"""Tool declarations of every provider, read into one shape."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.declarations import json_schema, read_declaration, specs_of
from turnout.errors import UsageError
from turnout.model import Origin

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    "declaration",
    [
        {"name": "weather", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "weather", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "weather", "description": "d", "parameters": SCHEMA},
        {"name": "weather", "description": "d", "input_schema": SCHEMA},
        {"name": "weather", "description": "d", "inputSchema": SCHEMA, "annotations": {"x": 1}},
        {"functionDeclarations": [{"name": "weather", "description": "d", "parameters": SCHEMA}]},
    ],
)
def test_a_function_is_the_same_in_every_form(declaration: dict[str, Any]) -> None:
    """Chat, Responses, Anthropic, MCP, Gemini and turnout write one thing."""
    (spec,) = specs_of([declaration])
    assert (spec.name, spec.description, spec.parameters) == ("weather", "d", SCHEMA)
    assert spec.is_function


def test_a_tool_of_a_provider_never_becomes_a_function() -> None:
    """Its declaration is kept as it was written."""
    declaration = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    (spec,) = read_declaration(declaration, Origin("anthropic"))
    assert not spec.is_function and spec.declaration == declaration


def test_a_custom_tool_takes_one_text() -> None:
    """Other providers get a function with one text argument."""
    (spec,) = read_declaration({"type": "custom", "name": "sql", "format": {"type": "text"}})
    assert spec.parameters["required"] == ["input"] and spec.declaration is not None


def test_a_namespace_is_part_of_the_name() -> None:
    """Two functions of one name in two namespaces are two tools."""
    tools = [{"type": "function", "name": "list", "parameters": SCHEMA}]
    (spec,) = read_declaration({"type": "namespace", "name": "crm", "tools": tools})
    assert spec.name == "crm.list" and spec.namespace["name"] == "crm"


def test_damage_is_reported_or_raised() -> None:
    """With a callback the tool is kept without its schema; without one it is an error."""
    damaged = {"name": "weather", "parameters": "none"}
    found: list[str] = []
    (spec,) = read_declaration(damaged, found=found.append)
    assert spec.parameters == {} and "weather" in found[0]
    with pytest.raises(UsageError, match="give a JSON Schema object"):
        list(read_declaration(damaged))
    with pytest.raises(UsageError, match="give one made with @tool"):
        specs_of([7])


def test_types_of_gemini_become_json_schema() -> None:
    """Gemini writes types in capitals."""
    assert json_schema({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }
