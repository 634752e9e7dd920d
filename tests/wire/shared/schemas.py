"""Random tool schemas, each with a value that it accepts: drawn together, so that both are always right."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Drawn = tuple[dict[str, Any], Any]
NAMES = st.sampled_from(("path", "n", "a_b", "a b", "$x", "9", "ä", "x.y", "k" * 70, "type", "properties"))
NOTES: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"description": "words"},
    {"title": "A title", "default": None},
    {"examples": [1], "$comment": "why", "x-own": True},
)
LEAVES: tuple[Drawn, ...] = (
    ({"type": "string"}, "text"),
    ({"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$"}, "abc"),
    ({"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z"),
    ({"type": "string", "enum": ["a", "b", ""]}, ""),
    ({"type": "integer", "minimum": 0, "maximum": 9}, 9),
    ({"type": "integer", "enum": [1, 2]}, 2),
    ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, 0.5),
    ({"type": "boolean"}, False),
    ({"type": "null"}, None),
    ({"enum": [1, "a", None, {"b": []}]}, {"b": []}),
    ({"const": "only"}, "only"),
    ({"const": 7}, 7),
    ({}, [1, {"any": "thing"}]),
    ({"type": ["string", "null"]}, None),
    ({"type": ["null"]}, None),
    ({"anyOf": [{"type": "null"}]}, None),
    ({"type": ["integer", "string", "array"]}, ["x"]),
    ({"type": "array"}, [1, "a"]),
    ({"type": "object"}, {"free": 1}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"free": 1}),
    ({"type": "object", "properties": {}, "minProperties": 1}, {"free": 1}),
    ({"type": "object", "patternProperties": {"^x": {"type": "string"}}}, {"x1": "a"}),
    ({"not": {"type": "string"}}, 5),
    ({"$ref": "#/$defs/Leaf", "description": "beside"}, "leaf"),
    ({"$ref": "#/$defs/Tree"}, {"left": {"left": {}}, "value": 1}),
    ({"$ref": "#/definitions/Old"}, 3),
)
SHARED: dict[str, Any] = {
    "$defs": {
        "Leaf": {"type": "string"},
        "Tree": {
            "type": "object",
            "properties": {"left": {"$ref": "#/$defs/Tree"}, "value": {"type": "number"}},
        },
    },
    "definitions": {"Old": {"$ref": "#/definitions/Older"}, "Older": {"type": "integer"}},
}


@st.composite
def noted(draw: Any, inner: st.SearchStrategy[Drawn]) -> Drawn:
    schema, value = draw(inner)
    return {**schema, **draw(st.sampled_from(NOTES))}, value


@st.composite
def arrays(draw: Any, inner: st.SearchStrategy[Drawn]) -> Drawn:
    schema, value = draw(inner)
    match draw(st.integers(0, 3)):
        case 0:
            return {"type": "array", "items": schema, "minItems": 1, "uniqueItems": False}, [value]
        case 1:
            other, second = draw(inner)
            return {"type": "array", "items": [schema, other]}, [value, second]
        case 2:
            return {"type": ["array", "null"], "items": schema}, [value, value]
        case _:
            return {"items": schema}, []


@st.composite
def combined(draw: Any, inner: st.SearchStrategy[Drawn]) -> Drawn:
    (first, value), (second, other) = draw(inner), draw(inner)
    match draw(st.integers(0, 4)):
        case 0:
            return {"anyOf": [first, second]}, draw(st.sampled_from([value, other]))
        case 1:
            return {"anyOf": [first, {"type": "null"}]}, draw(st.sampled_from([value, None]))
        case 2:
            return {"oneOf": [first, {"type": "string", "const": "\u2603"}]}, "\u2603"
        case 3:
            return {"allOf": [first]}, value
        case _:
            return {"allOf": [first], "description": "joined"}, value


@st.composite
def objects(draw: Any, inner: st.SearchStrategy[Drawn]) -> Drawn:
    drawn = draw(st.dictionaries(NAMES, inner, max_size=4))
    required = [name for name in drawn if draw(st.booleans())]
    kept = {name: value for name, (_, value) in drawn.items() if name in required or draw(st.booleans())}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in drawn.items()},
        **draw(st.sampled_from(({}, {"additionalProperties": False}, {"additionalProperties": True}))),
    }
    return ({**schema, "required": required} if required else schema), kept


NODES: st.SearchStrategy[Drawn] = st.recursive(
    noted(st.sampled_from(LEAVES)),
    lambda inner: noted(st.one_of(arrays(inner), combined(inner), objects(inner))),
    max_leaves=6,
)


@st.composite
def roots(draw: Any) -> Drawn:
    """Parameters of a tool, and arguments that fit them."""
    schema, value = draw(objects(NODES))
    match draw(st.integers(0, 7)):
        case 0:
            schema = {key: item for key, item in schema.items() if key != "type"}
        case 1:
            other, _ = draw(objects(NODES))
            schema = {"anyOf": [schema, other]}
        case 2:
            schema = {"type": "object", "allOf": [schema]}
        case 3:
            schema = {"$ref": "#/$defs/Root", "$defs": {"Root": schema}}
        case 4:
            schema = {"oneOf": [schema, {"type": "object", "required": ["\u2603"]}], "type": "object"}
            value = {key: item for key, item in value.items() if key != "\u2603"}
        case _:
            pass
    shared = {**SHARED, "$defs": {**SHARED["$defs"], **schema.get("$defs", {})}}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema, **shared}, value


NONSENSE = st.sampled_from((None, True, 7, -1.5, "a", "(", [], [1], ["a", "a"], {}, {"a": None}, [{}, 3]))


@st.composite
def broken(draw: Any) -> dict[str, Any]:
    """A schema that somebody wrote badly: some of its keywords have values that make no sense."""
    schema, _ = draw(roots())
    return dict(_with_nonsense(draw, schema))


def _with_nonsense(draw: Any, node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    mangled = {
        key: draw(NONSENSE) if draw(st.integers(0, 6)) == 0 else _with_nonsense(draw, value)
        for key, value in node.items()
    }
    extra = draw(st.dictionaries(st.sampled_from(KEYWORDS), NONSENSE, max_size=1))
    return {**mangled, **extra}


KEYWORDS = (
    "type", "properties", "required", "items", "enum", "anyOf", "allOf", "oneOf", "not", "minimum",
    "exclusiveMinimum", "minLength", "pattern", "additionalProperties", "description", "$ref", "$defs",
    "multipleOf", "uniqueItems", "definitions", "patternProperties", "dependencies", "format", "const",
)  # fmt: skip
