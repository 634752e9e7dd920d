"""Strict schemas: closed, with every property declared."""

from __future__ import annotations

from typing import Any

from turnout.model import ToolSpec
from turnout.wire.shared.strict import MAX_STRICT, Freedom, nullable, strict_schema

PATH = {"type": "object", "properties": {"path": {"type": "string"}, "line": {"type": "integer"}}}


def strict(parameters: dict[str, Any], style: Any = "openai") -> tuple[dict[str, Any] | None, list[str]]:
    changes: list[str] = []
    return strict_schema(ToolSpec("read", "", parameters), style, changes), changes


def test_openai_requires_every_property() -> None:
    """OAC-13: an optional one may be null."""
    schema, _ = strict({**PATH, "required": ["path"]})

    assert schema is not None and schema["required"] == ["path", "line"]
    assert schema["properties"]["line"] == {"type": ["integer", "null"]}
    assert schema["additionalProperties"] is False


def test_anthropic_keeps_optional_properties() -> None:
    """Its strict tools may leave some of them out."""
    schema, _ = strict({**PATH, "required": ["path"]}, "anthropic")

    assert schema is not None and schema["required"] == ["path"]


def test_what_the_subset_cannot_express_is_sent_without_strict() -> None:
    """The report says why."""
    schema, changes = strict({"type": "object", "properties": {"any": {}}})

    assert schema is None and "sent without strict" in changes[0]


def test_anthropic_limits_the_strict_tools_of_a_request() -> None:
    """ANT-09: recorded refusals beyond twenty."""
    freedom = Freedom()

    assert [freedom.takes({"type": "object"}) for _ in range(MAX_STRICT + 1)] == [True] * MAX_STRICT + [False]


def test_a_value_with_fixed_choices_becomes_null_by_a_union() -> None:
    """An enum cannot simply get another type."""
    assert nullable({"type": "string", "enum": ["a"]})["anyOf"][1] == {"type": "null"}
