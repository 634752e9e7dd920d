"""What is wrong with arguments, in words that a model can act on.

A problem names where it is, what was expected and what came. Whatever is shown of a value
is short, however large the value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from .. import plain

SHOWN = 80
LISTED = 32
NOTHING = "nothing"


class Problem(Struct, frozen=True):
    """One thing that does not fit: where, what was expected, what came."""

    path: str
    expected: str
    got: str


def tool_error(kind: str, tool: str, message: str, **fields: Any) -> str:
    """Every error that we, and not the tool, report: one shape, as JSON text."""
    return plain.dumps({"tool_error": {"kind": kind, "tool": tool, "message": message, **fields}})


def problems_in(error: Any, schema: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems that one validation error stands for."""
    path = error.instance_path
    if error.kind.name == "required":
        named = [*path, error.kind.property]
        yield Problem(written(named), f"{_wanted(schema, named)} (required)", NOTHING)
    elif error.kind.name == "additionalProperties":
        known = ", ".join(_properties(error, schema)) or "none"
        for name in error.kind.unexpected[:LISTED]:
            expected = f"no such argument; known are: {known}"
            yield Problem(written([*path, name]), expected, shown(error.instance[name]))
    else:
        yield Problem(written(path), _expected(error), shown(error.instance))


def problem_in_brief(error: Mapping[str, Any], value: Any) -> Problem:
    """The same from the validator's short form, for arguments that hold thousands of problems."""
    path = [int(part) if part.isdigit() else part for part in error["instanceLocation"].split("/")[1:]]
    keyword = error["schemaLocation"].rpartition("/")[2]
    said = error["error"].rpartition(" is ")[2] if keyword == "type" else keyword
    return Problem(written(path), cut(said, SHOWN), shown(at(value, path)))


def described(schema: Any) -> str:
    """A schema in a few words: `integer`, `one of "a", "b"`, `array of string`."""
    if not isinstance(schema, dict):
        return "a value"
    if "enum" in schema:
        return _one_of(schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(described(option) for option in schema["anyOf"]))
    if schema.get("type") == "array" and schema.get("items"):
        return f"array of {described(schema['items'])}"
    if isinstance(kind := schema.get("type"), str):
        return kind
    return " or ".join(kind) if isinstance(kind, list) else "object" if "$ref" in schema else "any value"


def shown(value: Any) -> str:
    """A value in a few words, at the same cost whatever its size."""
    match value:
        case str():
            return f"string {plain.dumps(cut(value, SHOWN))}"
        case dict():
            return f"object with {cut(', '.join(islice(value, 8)), SHOWN) or 'nothing in it'}"
        case list():
            return f"array of {len(value)}"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return f"number {cut(plain.dumps(value), SHOWN)}"


def written(path: Iterable[str | int]) -> str:
    """`items[3].name`; the root is ""."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{cut(step, SHOWN)}" for step in path)
    return "".join(steps).removeprefix(".")


def at(value: Any, path: Iterable[str | int]) -> Any:
    """What stands at a path; None where the path leads nowhere."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _properties(error: Any, schema: Mapping[str, Any]) -> Iterable[str]:
    within: Any = schema
    for step in error.schema_path[:-1]:
        within = within.get(step, {}) if isinstance(within, dict) else {}
    return within.get("properties", {}) if isinstance(within, dict) else ()


def _wanted(schema: Mapping[str, Any], path: list[str | int]) -> str:
    if len(path) == 1 and (found := schema.get("properties", {}).get(path[0])):
        return described(found)
    return "a value"


def _expected(error: Any) -> str:
    name, value = error.kind.name, error.kind.value
    if name == "type":
        return " or ".join(error.kind.types)
    if name in ("enum", "const"):
        return _one_of(value if isinstance(value, list) else [value])
    if name in ("anyOf", "oneOf") and hasattr(error.kind, "context"):
        inner = [_expected(problem) for branch in error.kind.context for problem in branch[:1]]
        return " or ".join(dict.fromkeys(inner))
    return f"{name} {cut(plain.dumps(value), SHOWN)}"


def _one_of(options: Iterable[Any]) -> str:
    return "one of " + cut(", ".join(plain.dumps(option) for option in islice(options, 150)), 300)
