"""Schemas and arguments that strangers could send to keep a program busy, or to fill its memory."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def doubling(levels: int, word: str = "allOf") -> Schema:
    """Each definition is twice the one before: 2^levels steps for one value."""
    named: Schema = {"d0": {"type": "object"}}
    for at in range(1, levels + 1):
        before = {"$ref": f"#/$defs/d{at - 1}"}
        named[f"d{at}"] = {word: [before, before]}
    return {"type": "object", "$defs": named, "allOf": [{"$ref": f"#/$defs/d{levels}"}]}


def doubling_below(levels: int) -> Schema:
    """The same for the value of a property, so that only a call that has one takes long."""
    schema = doubling(levels)
    return {
        "type": "object",
        "$defs": schema["$defs"],
        "properties": {"x": {"$ref": f"#/$defs/d{levels}"}},
    }


def doubling_by_anchors(levels: int) -> Schema:
    """The same with names in place of paths."""
    named: Schema = {"d0": {"$anchor": "a0", "type": "object"}}
    for at in range(1, levels + 1):
        before = {"$ref": f"#a{at - 1}"}
        named[f"d{at}"] = {"$anchor": f"a{at}", "allOf": [before, before]}
    return {"type": "object", "$defs": named, "$ref": f"#a{levels}"}


def doubling_in_a_resource(levels: int) -> Schema:
    """The same below an `$id`, which changes what `#` means there."""
    inner = doubling(levels)
    return {
        "type": "object",
        "$defs": {"d0": {}, **{f"d{at}": {} for at in range(1, levels + 1)}},
        "allOf": [{"$id": "https://inner.example/", **inner}],
    }


def unevaluated(levels: int) -> Schema:
    """Each level asks the parts below it again."""
    schema: Schema = {"properties": {"z": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return {"type": "object", **schema}


def lists_of_two_kinds() -> Schema:
    """Cheap to check, but whoever reports what does not fit has two reports for each value at each level."""
    kind = {"type": "array", "items": {"$ref": "#/$defs/n"}}
    named = {"n": {"anyOf": [kind, kind, {"type": "null"}]}}
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": named}


def diamonds(levels: int) -> Schema:
    """Cheap to check, but 2^levels parts for whoever writes its references out."""
    named: Schema = {"d0": {"type": "object"}}
    for at in range(1, levels + 1):
        before = {"$ref": f"#/$defs/d{at - 1}"}
        named[f"d{at}"] = {"type": "object", "properties": {"a": before, "b": before}}
    return {"type": "object", "$defs": named, "properties": {"x": {"$ref": f"#/$defs/d{levels}"}}}


def everyone_knows_everyone(count: int) -> Schema:
    """Definitions that all refer to all."""
    named = {
        f"d{at}": {
            "type": "object",
            "properties": {f"p{other}": {"$ref": f"#/$defs/d{other}"} for other in range(count)},
        }
        for at in range(count)
    }
    return {"type": "object", "$defs": named, "properties": {"x": {"$ref": "#/$defs/d0"}}}


def nested(levels: int) -> Schema:
    schema: Schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def with_pattern(pattern: str) -> Schema:
    return {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}}


def variants(count: int) -> Schema:
    """A tree of nodes, each of one of many kinds: checking it wrongly nested tries every way."""
    kinds = [
        {"properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}, f"k{at}": {}}}
        for at in range(count)
    ]
    return {
        "type": "object",
        "$defs": {"node": {"type": "object", "anyOf": kinds, "required": ["name"]}},
        "properties": {"x": {"$ref": "#/$defs/node"}},
    }


def tree(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"name": "n", "children": [leaf]}
    return leaf


def list_in_list(levels: int) -> str:
    return "[" * levels + "]" * levels


REFUSED: dict[str, Schema] = {
    "a list of 40,000 numbers": {"type": "object", "properties": {"x": {"enum": list(range(40_000))}}},
    "40 definitions of allOf, each twice the one before": doubling(40),
    "the same with anyOf": doubling(40, "anyOf"),
    "the same with oneOf": doubling(40, "oneOf"),
    "the same for a property": doubling_below(40),
    "the same by anchors": doubling_by_anchors(40),
    "the same below an $id": doubling_in_a_resource(40),
    "unevaluatedProperties, 20 times": unevaluated(20),
    "500 levels": nested(500),
    "20,000 parts": {"type": "object", "properties": {f"p{at}": {"type": "string"} for at in range(20_000)}},
    "a pattern whose repetitions multiply": with_pattern("((((a{0,100}){0,100}){0,100}){0,100}){0,100}"),
    "a pattern of 100,000 characters": with_pattern("a" * 100_000),
}

ACCEPTED: dict[str, tuple[Schema, Any]] = {
    "diamonds": (diamonds(40), {"x": {"a": {}}}),
    "everyone knows everyone": (everyone_knows_everyone(30), {"x": {"p1": {"p2": {}}}}),
    "a pattern that backtracks": (with_pattern("^(a+)+$"), {"x": "a" * 100 + "!"}),
    "a pattern with a back reference": (with_pattern(r"(x+)+\1y"), {"x": "x" * 100_000}),
    "a pattern that looks ahead": (with_pattern("^(?=(a+)+$)(a|a)*b$"), {"x": "a" * 50_000}),
    "a pattern with many states": (with_pattern("(a?){1000}a{1000}"), {"x": "a" * 20_000}),
    "many patterns and a long text": (
        {"type": "object", "allOf": [with_pattern(f"x{at}y*$") for at in range(200)]},
        {"x": "x" * 1_000_000},
    ),
    "a thousand names by pattern": (
        {"type": "object", "patternProperties": {f"^a{at}x": {} for at in range(1000)}},
        {f"b{at}": 1 for at in range(5000)},
    ),
    "unique items": (
        {"type": "object", "properties": {"x": {"uniqueItems": True}}},
        {"x": [[at] for at in range(20_000)]},
    ),
    "a tree of 20 kinds, 12 levels": (variants(20), {"x": tree(12, {"children": 1})}),
    "a tree of 20 kinds, 40 levels": (variants(20), {"x": tree(40, {"children": 1})}),
    "many of many choices": (
        {"type": "object", "properties": {"x": {"items": {"anyOf": [{"const": at} for at in range(300)]}}}},
        {"x": [-1] * 20_000},
    ),
    "lists of lists, each of two kinds": (lists_of_two_kinds(), {"x": [[[1]] * 50] * 50}),
    "a list of many numbers": (
        {"type": "object", "properties": {"x": {"enum": list(range(9_000))}}},
        {"x": 1e308},
    ),
}

TEXTS: dict[str, str] = {
    "10 MB of [],": '{"x": [' + "[]," * 3_400_000 + "[]]}",
    "4 MB of [],": '{"x": [' + "[]," * 1_300_000 + "[]]}",
    "4 MB of numbers": '{"x": [' + "1," * 2_000_000 + "1]}",
    "4 MB of empty texts": '{"x": [' + '"",' * 1_300_000 + '""]}',
    "4 MB of names": "{" + ",".join(f'"k{at}":1' for at in range(350_000)) + "}",
    "4 MB of opening brackets": "[" * 4_000_000,
    "60,000 levels": f'{{"x": {list_in_list(24_000)}}}',
    "4 MB of commas in a text": '{"x": "' + "," * 4_000_000 + '"}',
    "4 MB of quotes in a text": '{"x": "' + '\\"' * 1_900_000 + '"}',
    "4 MB of [], in a text in a text": '"' + '{\\"x\\": [' + "[]," * 1_000_000 + '[]]}"',
    "1 MB of [], in a text that should be a list": '{"items": "[' + "[]," * 350_000 + '[]]"}',
    "a number of 4 million digits": '{"x": ' + "9" * 4_000_000 + "}",
    "JSON that breaks off after 4 MB": '{"x": "' + "y" * 4_000_000,
    "as many values as are read": '{"x": [' + '{"a":1},' * 24_000 + "{}]}",
}
