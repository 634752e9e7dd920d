"""What Anthropic refuses about tools."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

MODEL = "claude-sonnet-4-5"


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": MODEL, "max_tokens": 4096, "messages": list(messages), **fields}
    return [problem.rule for problem in check("anthropic", body)]


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) or "go"}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def tool(**fields: Any) -> dict[str, Any]:
    return {"name": "read", "input_schema": SCHEMA, **fields}


def test_names_match_the_pattern_and_are_unique() -> None:
    """ANT-08: letters, digits, _ and -."""
    assert rules_of(user(), tools=[tool()]) == []
    assert rules_of(user(), tools=[tool(name="read file")]) == ["ANT-08"]
    assert rules_of(user(), tools=[tool(), tool()]) == ["ANT-08"]


def test_the_root_of_a_schema_is_an_object() -> None:
    """ANT-09: without combinators."""
    assert rules_of(user(), tools=[tool(input_schema={"type": "string"})]) == ["ANT-09"]
    assert rules_of(user(), tools=[tool(input_schema={"type": "object", "anyOf": [SCHEMA]})]) == ["ANT-09"]


def test_a_strict_schema_has_no_circle() -> None:
    """ANT-09: definitions that refer to each other cannot be compiled."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    circular = {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert "ANT-09" in rules_of(user(), tools=[tool(strict=True, input_schema=circular)])


def test_a_choice_needs_tools() -> None:
    """ANT-25: tool_choice without tools is refused."""
    assert rules_of(user(), tool_choice={"type": "any"}) == ["ANT-25"]
