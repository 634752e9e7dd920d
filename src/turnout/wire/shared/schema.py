"""Tool schemas, reduced to what each family accepts.

A projection keeps the meaning of the schema where it can, and names in `changes` what it
weakened. Weakening is safe: arguments are checked against the tool's own schema before the
tool runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from ...model import ToolSpec
from ...plain import is_deeper
from . import sound_schema
from .sound_schema import Say, Schema, repair_schema
from .unfolded_size import MOST_PARTS, resolve_reference, unfolds_too_far

SchemaStyle = Literal["openai", "anthropic", "moonshot", "xai", "plain"]

MAX_DEPTH = 32
GEMINI_DEPTH = 49  # levels of JSON; about 60 are refused ("Message too deep")
GEMINI_LEVELS = 22  # of a schema in a schema: `properties` and a name are two levels of JSON
COMBINATORS = ("anyOf", "oneOf", "allOf")
GEMINI_KEY = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
ANTHROPIC_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

UNFOLDED = f"with its references written out it has more than {MOST_PARTS:,} parts"

GEMINI_KEYWORDS = frozenset(
    [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "propertyOrdering",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "default",
    ]
)


def project_schema(tool: ToolSpec, style: SchemaStyle, changes: list[str]) -> Schema:
    """The tool's parameters as this family accepts them."""
    say = lines_for(tool, changes)
    schema = object_root(tool.parameters, say)
    if style in ("openai", "anthropic", "moonshot", "xai"):
        schema = plain_root(schema, say)
    if style == "anthropic":
        return _anthropic_keys(schema, say)
    if style == "moonshot":
        return _change_nodes(schema, lambda node: _moonshot(node, say))
    if style == "xai":
        return _change_nodes(schema, _without_closed)
    return schema


def gemini_parameters(tool: ToolSpec, changes: list[str]) -> Schema:
    """`parameters` in Gemini's subset (GEM-12, GEM-13); full JSON Schema if the subset cannot express it."""
    if (
        not tool.parameters.get("properties")
        and not _has_combinators(tool.parameters)
        and "$ref" not in tool.parameters
    ):
        if unsaid := [key for key in tool.parameters if key in ("title", "description")]:
            changes.append(f"tool {tool.name}: {', '.join(unsaid)} left out: there are no parameters")
        return {}
    lost: list[str] = []
    try:
        root = object_root(tool.parameters, lost.append)
        if unfolds_too_far(root):
            raise Inexpressible(UNFOLDED)
        schema = _gemini_schema(root, root, lost.append, ())
        if is_deeper(schema, GEMINI_DEPTH):
            raise Inexpressible("it is nested too deeply")
    except (Inexpressible, RecursionError) as fault:
        reason = fault if isinstance(fault, Inexpressible) else "it is nested too deeply"
        changes.append(f"tool {tool.name}: sent as full JSON Schema, because {reason}")
        say = lines_for(tool, changes)
        return {"parametersJsonSchema": object_root(shallow_schema(tool.parameters, say), lambda _: None)}
    if lost:
        changes.append(f"tool {tool.name}: {'; '.join(dict.fromkeys(lost))}")
    return {"parameters": schema}


def shallow_schema(schema: Mapping[str, Any], say: Say) -> Schema:
    """The same schema, not deeper than Gemini accepts."""
    if not is_deeper(schema, GEMINI_DEPTH):
        return dict(schema)
    return repair_schema(dict(schema), say, sound_schema.MAX_DEPTH - GEMINI_LEVELS)


def lines_for(tool: ToolSpec, changes: list[str]) -> Say:
    def add_line(what: str) -> None:
        line = f"tool {tool.name}: {what}"
        if line not in changes:
            changes.append(line)

    return add_line


# Roots: every family calls a tool with an object


def object_root(parameters: Mapping[str, Any], say: Say) -> Schema:
    parameters = repair_schema(dict(parameters), say)
    schema = {key: value for key, value in parameters.items() if key not in ("$schema", "$id")}
    followed: set[str] = set()
    while isinstance(reference := schema.pop("$ref", None), str):
        target = None if reference in followed else resolve_reference(reference, parameters)
        if target is None:
            say(f"{reference} refers to itself or to nothing; declared without it")
        followed.add(reference)
        schema = {**(target or {}), **schema}
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        say("its parameters are not an object; declared without any")
        return {"type": "object", "properties": {}}
    schema["type"] = "object"
    if not isinstance(schema.get("properties"), dict):
        schema["properties"] = {}
    return schema


def _has_combinators(schema: Mapping[str, Any]) -> bool:
    return any(isinstance(schema.get(word), list) for word in COMBINATORS)


def plain_root(schema: Schema, say: Say) -> Schema:
    """ANT-09, OAC-14: no combinator at the root. Properties of all branches; required if in all."""
    refused = [
        word for word in (*COMBINATORS, "enum", "not", "const", "if", "then", "else") if word in schema
    ]
    if not refused:
        return schema
    say(f"{', '.join(refused)} at the root written as plain properties")
    root = {key: value for key, value in schema.items() if key not in refused}
    for word in COMBINATORS:
        branches = [_branch(branch, schema) for branch in schema.get(word) or () if isinstance(branch, dict)]
        root = _absorb_branches(root, branches, every=word == "allOf")
    return root


def _branch(branch: Schema, root: Schema) -> Schema:
    if isinstance(reference := branch.get("$ref"), str):
        return resolve_reference(reference, root) or {}
    return branch


def _absorb_branches(root: Schema, branches: list[Schema], *, every: bool) -> Schema:
    """The root with the properties of its branches. With `every`, all branches apply."""
    if not branches:
        return root
    properties = dict(root.get("properties") or {})
    for branch in branches:
        for name, value in (branch.get("properties") or {}).items():
            known = properties.get(name)
            properties[name] = value if known in (None, value) else {"anyOf": [known, value]}
    needs = [set(branch.get("required") or ()) for branch in branches]
    required = set.union(*needs) if every else set.intersection(*needs)
    order = [*(root.get("required") or ()), *(name for name in properties if name in required)]
    merged = {**root, "properties": properties}
    if order:
        merged["required"] = list(dict.fromkeys(order))
    return merged


# Walking


def _change_nodes(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    return dict(_change_below(schema, change))


def _change_below(schema: Any, change: Callable[[Schema], Schema], depth: int = 0) -> Any:
    """The same schema with every subschema changed, innermost first."""
    if isinstance(schema, list):
        return [_change_below(item, change, depth) for item in schema]
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return schema
    return change({key: _change_value(key, value, change, depth) for key, value in schema.items()})


def _change_value(key: str, value: Any, change: Callable[[Schema], Schema], depth: int) -> Any:
    if key in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, dict):
        return {name: _change_below(item, change, depth + 1) for name, item in value.items()}
    if key in ("items", "additionalProperties", "not", "prefixItems", *COMBINATORS):
        return _change_below(value, change, depth + 1)
    return value


# Families


def _anthropic_keys(schema: Schema, say: Say) -> Schema:
    refused = [name for name in schema["properties"] if not ANTHROPIC_KEY.fullmatch(name)]
    if not refused:
        return schema
    say(f"properties {', '.join(map(repr, refused))} left undeclared: their names are refused here")
    kept = {name: value for name, value in schema["properties"].items() if name not in refused}
    required = [name for name in schema.get("required") or () if name not in refused]
    weakened = {**schema, "properties": kept, "required": required}
    return {key: value for key, value in weakened.items() if key != "additionalProperties"}


def _moonshot(node: Schema, say: Say) -> Schema:
    if "$ref" in node and len(node) > 1:
        return {"$ref": node["$ref"]}  # nothing may stand beside a reference
    if isinstance(node.get("items"), list):
        say("tuple items weakened to any of them")
        node = {**node, "items": {"anyOf": node["items"]} if node["items"] else {}}
    if "anyOf" in node and "type" in node:
        kind = node["type"]
        branches = [
            branch if "type" in branch or "$ref" in branch else {"type": kind, **branch}
            for branch in node["anyOf"]
        ]
        node = {**{key: value for key, value in node.items() if key != "type"}, "anyOf": branches}
    return node


def _without_closed(node: Schema) -> Schema:
    return {key: value for key, value in node.items() if key != "additionalProperties" or value is not False}


class Inexpressible(Exception):
    """The subset of the provider cannot express this schema."""


def _gemini_schema(node: Any, root: Mapping[str, Any], say: Say, above: tuple[str, ...]) -> Schema:
    if not isinstance(node, dict):
        raise Inexpressible("a subschema is not an object")
    if isinstance(reference := node.get("$ref"), str):
        if reference in above or (target := resolve_reference(reference, root)) is None:
            raise Inexpressible(f"{reference} refers to itself or to nothing")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _gemini_schema({**target, **beside}, root, say, (*above, reference))
    combined = _gemini_combined(dict(node), say)
    if (alone := _nullable_branch(combined)) is not None:
        return _gemini_schema(alone, root, say, above)
    schema = _gemini_types(combined)
    _gemini_values(schema, say)
    lost = [
        key for key in schema if key not in GEMINI_KEYWORDS and key not in ("$defs", "definitions", "$schema")
    ]
    if lost:
        say(f"{', '.join(sorted(lost))} left out")
    schema = {key: value for key, value in schema.items() if key in GEMINI_KEYWORDS}
    return dict(_gemini_children(schema, root, say, above))


def _gemini_combined(node: Schema, say: Say) -> Schema:
    if "oneOf" in node:
        say("oneOf read as anyOf")
        node["anyOf"] = [*(node.get("anyOf") or ()), *node.pop("oneOf")]
    if isinstance(parts := node.pop("allOf", None), list):
        say("allOf joined")
        node = _absorb_branches(node, [part for part in parts if isinstance(part, dict)], every=True)
        for part in parts:
            if isinstance(part, dict):
                node = {
                    **{key: value for key, value in part.items() if key not in ("properties", "required")},
                    **node,
                }
    return node


def _nullable_branch(node: Schema) -> Schema | None:
    """The schema of a value that may be null, if the node is `anyOf` of one schema and null."""
    branches = node.get("anyOf")
    if not isinstance(branches, list) or {"type": "null"} not in branches:
        return None
    rest = [branch for branch in branches if branch != {"type": "null"}]
    if len(rest) != 1 or not isinstance(rest[0], dict):
        return None
    return {**rest[0], **{key: value for key, value in node.items() if key != "anyOf"}, "nullable": True}


def _gemini_types(node: Schema) -> Schema:
    kinds = node.get("type")
    if isinstance(kinds, list):
        named = [kind for kind in kinds if kind != "null"]
        if not named:
            raise Inexpressible("a value can only be null")
        if "null" in kinds:
            node["nullable"] = True
        if len(named) == 1:
            node["type"] = named[0]
        else:
            del node["type"]
            node["anyOf"] = [*(node.get("anyOf") or ()), *({"type": kind} for kind in named)]
    branches = node.get("anyOf")
    if isinstance(branches, list) and {"type": "null"} in branches:
        node["nullable"] = True
        node["anyOf"] = [branch for branch in branches if branch != {"type": "null"}]
        if not node["anyOf"]:
            raise Inexpressible("a value can only be null")
    if "type" not in node and "anyOf" not in node and "properties" in node:
        node["type"] = "object"
    return node


def _gemini_values(node: Schema, say: Say) -> None:
    if "const" in node:
        node["enum"] = [node.pop("const")]
    values = node.get("enum")
    if isinstance(values, list):
        if not all(isinstance(value, str) for value in values):
            raise Inexpressible("an enum holds other values than strings")
        if node.get("type", "string") != "string":  # GEM-13
            raise Inexpressible("an enum is of another type than string")
        node.setdefault("type", "string")
        if not all(values):
            say("an empty enum value left out")
            node["enum"] = [value for value in values if value]
    for keyword, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(bound := node.get(keyword), int | float) and not isinstance(bound, bool):
            node.setdefault(plain, bound)


def _gemini_children(
    schema: Schema, root: Mapping[str, Any], say: Say, above: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    kind = schema.get("type")
    if kind == "array" and not isinstance(schema.get("items"), dict):
        raise Inexpressible("an array does not say what it holds")
    if kind == "object" and not schema.get("properties"):
        raise Inexpressible("an object does not say what it holds")
    if kind is None and "anyOf" not in schema:
        raise Inexpressible("a value may be of any type")
    for key, value in schema.items():
        if key == "properties":
            if refused := [name for name in value if not GEMINI_KEY.fullmatch(name)]:
                raise Inexpressible(f"the name {refused[0]!r} is refused there")
            yield key, {name: _gemini_schema(child, root, say, above) for name, child in value.items()}
        elif key == "items":
            yield key, _gemini_schema(value, root, say, above)
        elif key == "anyOf":
            yield key, [_gemini_schema(branch, root, say, above) for branch in value]
        elif key == "required":
            if known := [name for name in value if name in (schema.get("properties") or {})]:
                yield key, known
        else:
            yield key, value
