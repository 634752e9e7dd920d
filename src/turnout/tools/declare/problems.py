"""What is wrong with arguments, in words that a model can act on.

A problem names where it is, what was expected and what was given. What is shown of a value is
short, however large the value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from ... import plain

SHOWN = 80
LISTED = 32
NOTHING = "nothing"


class ArgumentProblem(Struct, frozen=True):
    """One thing that does not fit: where, what was expected, what was given."""

    path: str
    expected: str
    got: str


def tool_error(kind: str, tool: str, message: str, **fields: Any) -> str:
    """The one form of every error that we report, and not the tool: JSON text."""
    return plain.dumps({"tool_error": {"kind": kind, "tool": tool, "message": message, **fields}})


def problems_in(error: Any, schema: Mapping[str, Any]) -> Iterator[ArgumentProblem]:
    """The problems that one validation error stands for."""
    path = error.instance_path
    if error.kind.name == "required":
        named = [*path, error.kind.property]
        yield ArgumentProblem(path_text(named), f"{_expected_at(schema, named)} (required)", NOTHING)
    elif error.kind.name == "additionalProperties":
        known = ", ".join(_properties(error, schema)) or "none"
        for name in error.kind.unexpected[:LISTED]:
            expected = f"no such argument; known are: {known}"
            yield ArgumentProblem(path_text([*path, name]), expected, value_in_words(error.instance[name]))
    else:
        yield ArgumentProblem(path_text(path), _expected_by(error), value_in_words(error.instance))


def problem_in_brief(error: Mapping[str, Any], value: Any) -> ArgumentProblem:
    """The same from the validator's short form, for arguments that hold thousands of problems."""
    path = [int(part) if part.isdigit() else part for part in error["instanceLocation"].split("/")[1:]]
    keyword = error["schemaLocation"].rpartition("/")[2]
    expected = error["error"].rpartition(" is ")[2] if keyword == "type" else keyword
    return ArgumentProblem(
        path_text(path), shorten_text(expected, SHOWN), value_in_words(value_at(value, path))
    )


def schema_in_words(schema: Any) -> str:
    """A schema in a few words: `integer`, `one of "a", "b"`, `array of string`."""
    if not isinstance(schema, dict):
        return "a value"
    if "enum" in schema:
        return _one_of(schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(schema_in_words(option) for option in schema["anyOf"]))
    if schema.get("type") == "array" and schema.get("items"):
        return f"array of {schema_in_words(schema['items'])}"
    if isinstance(kind := schema.get("type"), str):
        return kind
    return " or ".join(kind) if isinstance(kind, list) else "object" if "$ref" in schema else "any value"


def value_in_words(value: Any) -> str:
    """A value in a few words, at the same cost for every size."""
    match value:
        case str():
            return f"string {plain.dumps(shorten_text(value, SHOWN))}"
        case dict():
            return f"object with {shorten_text(', '.join(islice(value, 8)), SHOWN) or 'nothing in it'}"
        case list():
            return f"array of {len(value)}"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return f"number {shorten_text(plain.dumps(value), SHOWN)}"


def path_text(path: Iterable[str | int]) -> str:
    """`items[3].name`; the root is ""."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{shorten_text(step, SHOWN)}" for step in path)
    return "".join(steps).removeprefix(".")


def value_at(value: Any, path: Iterable[str | int]) -> Any:
    """The value at a path; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def shorten_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _properties(error: Any, schema: Mapping[str, Any]) -> Iterable[str]:
    within: Any = schema
    for step in error.schema_path[:-1]:
        within = within.get(step, {}) if isinstance(within, dict) else {}
    return within.get("properties", {}) if isinstance(within, dict) else ()


def _expected_at(schema: Mapping[str, Any], path: list[str | int]) -> str:
    if len(path) == 1 and (found := schema.get("properties", {}).get(path[0])):
        return schema_in_words(found)
    return "a value"


def _expected_by(error: Any) -> str:
    name, value = error.kind.name, error.kind.value
    if name == "type":
        return " or ".join(error.kind.types)
    if name in ("enum", "const"):
        return _one_of(value if isinstance(value, list) else [value])
    if name in ("anyOf", "oneOf") and hasattr(error.kind, "context"):
        inner = [_expected_by(problem) for branch in error.kind.context for problem in branch[:1]]
        return " or ".join(dict.fromkeys(inner))
    return f"{name} {shorten_text(plain.dumps(value), SHOWN)}"


def _one_of(options: Iterable[Any]) -> str:
    return "one of " + shorten_text(", ".join(plain.dumps(option) for option in islice(options, 150)), 300)
