"""Repair a schema: leave out the parts that are not valid JSON Schema.

Servers that validate declarations refuse the whole request for one such part. Without it the
schema accepts more, but arguments are still checked before the tool runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]
Say = Callable[[str], None]

TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
MAX_DEPTH = 64

CONDITIONS = ("if", "then", "else", "not", "contains", "propertyNames")
ONE = frozenset((*CONDITIONS, "items", "additionalItems", "additionalProperties"))
NAMED = frozenset(("properties", "patternProperties", "definitions", "$defs", "dependentSchemas"))
SEVERAL = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))


def repair_schema(schema: Schema, say: Say, depth: int = 0) -> Schema:
    """The same schema, without values that are invalid for their keywords."""
    kept = {}
    for keyword, value in schema.items():
        repaired = _repair_value(keyword, value, say, depth)
        if repaired is NO_SENSE:
            say(f"{keyword} is not valid there; declared without it")
        else:
            kept[keyword] = repaired
    return kept


class _NoSense:
    """Stands for a value that cannot be kept."""


NO_SENSE = _NoSense()


def _repair_value(keyword: str, value: Any, say: Say, depth: int) -> Any:
    if keyword in ONE:
        listed = keyword == "items" and isinstance(value, list)
        return _repair_several(value, say, depth) if listed else _repair_one(value, say, depth)
    if keyword in NAMED:
        return _repair_named(value, say, depth)
    if keyword in SEVERAL:
        return _repair_several(value, say, depth)
    check = VALUES.get(keyword)
    return value if check is None or check(value) else NO_SENSE


def _repair_one(value: Any, say: Say, depth: int) -> Any:
    if isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        return NO_SENSE
    if depth < MAX_DEPTH:
        return repair_schema(value, say, depth + 1)
    if value:
        say("nested too deeply; what lies deeper is declared as anything")
    return {}


def _repair_named(value: Any, say: Say, depth: int) -> Any:
    if not isinstance(value, dict):
        return NO_SENSE
    return {str(name): _or_anything(child, say, depth) for name, child in value.items()}


def _repair_several(value: Any, say: Say, depth: int) -> Any:
    if not isinstance(value, list) or not value:
        return NO_SENSE
    return [_or_anything(child, say, depth) for child in value]


def _or_anything(child: Any, say: Say, depth: int) -> Any:
    """A subschema that is not valid becomes one that accepts anything. Its name or position stays."""
    repaired = _repair_one(child, say, depth)
    if repaired is not NO_SENSE:
        return repaired
    say(f"{_excerpt_of(child)} is not a schema; declared as anything")
    return {}


def _excerpt_of(value: Any) -> str:
    return repr(value)[:40]


# What a keyword may have for a value


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_type_name, value)) and len(set(value)) == len(value)
    return _is_type_name(value)


def _is_type_name(value: Any) -> bool:
    return isinstance(value, str) and value in TYPES


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_step(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_dependencies(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(on, dict | bool) or _is_names(on) for on in value.values()
    )


def _is_pattern(value: Any) -> bool:
    try:
        re.compile(value)
    except (TypeError, ValueError, OverflowError, RecursionError, re.error):
        return isinstance(value, str) and "\\p" in value  # Python has no Unicode classes; others do
    return True


VALUES: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "required": _is_names,
    "enum": _is_list,
    "examples": _is_list,
    "pattern": _is_pattern,
    "multipleOf": _is_step,
    **dict.fromkeys(("dependencies", "dependentRequired"), _is_dependencies),
    **dict.fromkeys(("$ref", "$comment", "title", "description", "format"), _is_text),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count
    ),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _is_flag),
}
