"""A schema without the parts that are not valid JSON Schema."""

from __future__ import annotations

from typing import Any

from turnout.wire.shared.sound_schema import MAX_DEPTH, repair_schema


def repaired(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    lines: list[str] = []
    return repair_schema(schema, lines.append), lines


def test_a_valid_schema_stays_the_same() -> None:
    """Nothing is reported."""
    schema = {"type": "object", "properties": {"path": {"type": ["string", "null"], "minLength": 1}}}
    assert repaired(schema) == (schema, [])


def test_an_invalid_value_is_left_out_and_named() -> None:
    """The other keywords stay."""
    schema, lines = repaired({"type": "file", "required": "path", "title": "A file"})

    assert schema == {"title": "A file"}
    assert [line.split()[0] for line in lines] == ["type", "required"]


def test_an_invalid_property_accepts_anything() -> None:
    """Its name stays, so that the model can still give it."""
    schema, lines = repaired({"properties": {"path": "string"}})

    assert schema == {"properties": {"path": {}}} and "is not a schema" in lines[0]


def test_what_is_too_deep_accepts_anything() -> None:
    """A schema of any depth can be read."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(2 * MAX_DEPTH):
        deep = {"items": deep}
    assert "nested too deeply" in repaired(deep)[1][0]
