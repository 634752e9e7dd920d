"""Strict schemas: closed objects with every property declared.

The provider guarantees that the arguments of a strict tool match its schema. The subset for it
is small: a schema outside it is sent without strict, and the report says why. References
are replaced by what they refer to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from ...model import ToolSpec
from ..options import Options
from .schema import ANTHROPIC_KEY, UNFOLDED, Inexpressible, lines_for, object_root, plain_root
from .sound_schema import Say, Schema
from .unfolded_size import resolve_reference, unfolds_too_far

StrictStyle = Literal["openai", "anthropic"]

SAID = ("type", "properties", "required", "items", "enum", "const", "anyOf", "description", "title")
LIMITS = ("pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
KEYWORDS = {
    "openai": frozenset((*SAID, *LIMITS, "minItems", "maxItems", "additionalProperties")),
    "anthropic": frozenset((*SAID, "additionalProperties")),
}
UNSPOKEN = (
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "additionalProperties",
    "$comment",
)
HINTS = ("default", "examples")
"""Keywords that help a model to choose a value, and do not restrict it."""

# Recorded refusals at Anthropic (ANT-09): optional parameters and unions in the strict tools of one request.
MAX_STRICT = 20
MAX_OPTIONAL = 24
MAX_OPTIONAL_IN_ONE = 23
MAX_UNIONS = 15


def strict_schema(tool: ToolSpec, style: StrictStyle, changes: list[str]) -> Schema | None:
    """The tool's parameters in the strict subset; None, and a line in `changes`, if they do not fit."""
    lost: list[str] = []
    say = lines_for(tool, lost)
    try:
        root = plain_root(object_root(tool.parameters, say), say)
        if not root["properties"] and not _is_open(root):
            root = {**root, "additionalProperties": False}  # a tool without parameters
        if unfolds_too_far(root):
            raise Inexpressible(UNFOLDED)
        schema = _Subset(style, root, say).node(root, ())
    except Inexpressible as reason:
        changes.append(f"tool {tool.name}: sent without strict, because {reason}")
        return None
    changes += [line for line in lost if line not in changes]
    return schema


def _is_open(root: Schema) -> bool:
    return bool(root.get("additionalProperties")) or "patternProperties" in root or "minProperties" in root


def strict_answer(options: Options, style: StrictStyle, changes: list[str]) -> dict[str, Any]:
    """The schema that the answer must follow, strict where it can be."""
    given = options.schema or {}
    asked = options.strict if options.schema_strict is None else options.schema_strict
    wanted = asked or style == "anthropic"  # which has only strict answers
    name = options.schema_name or "answer"
    schema = strict_schema(ToolSpec(name, "", given), style, changes) if wanted else None
    answer = {"name": name, "schema": given if schema is None else schema, "strict": schema is not None}
    return {**answer, "description": options.schema_description} if options.schema_description else answer


class _Subset:
    """One schema in the strict subset of one family."""

    def __init__(self, style: StrictStyle, root: Mapping[str, Any], say: Say) -> None:
        self.style = style
        self.root = root
        self.say = say

    def node(self, given: Any, above: tuple[str, ...]) -> Schema:
        if not isinstance(given, dict):
            raise Inexpressible("a value may be of any type")
        if isinstance(reference := given.get("$ref"), str):
            return self._follow_reference(given, reference, above)
        node = self._join_combinators(given)
        lost = [key for key in node if key not in KEYWORDS[self.style] and key not in UNSPOKEN]
        if lost:
            self.say(f"{', '.join(sorted(lost))} left out: not in the strict subset")
        kept = {key: value for key, value in node.items() if key in KEYWORDS[self.style]}
        kinds = _kinds(kept)
        if "object" in kinds:
            self._close_object(kept, node, above)
        if "array" in kinds:
            kept["items"] = self.node(kept.get("items"), above)
        else:
            kept.pop("items", None)
        if "anyOf" in kept:
            kept["anyOf"] = [self.node(branch, above) for branch in kept["anyOf"]]
        return kept

    def _follow_reference(self, given: Schema, reference: str, above: tuple[str, ...]) -> Schema:
        target = resolve_reference(reference, self.root)
        if reference in above or target is None:
            raise Inexpressible(f"{reference} refers to itself or to nothing")
        beside = {key: value for key, value in given.items() if key != "$ref"}
        return self.node({**target, **beside}, (*above, reference))

    def _join_combinators(self, given: Schema) -> Schema:
        node = dict(given)
        if "oneOf" in node:
            self.say("oneOf read as anyOf")
            node["anyOf"] = [*(node.get("anyOf") or ()), *node.pop("oneOf")]
        parts = node.pop("allOf", None)
        if parts is not None:
            if (
                len(parts) != 1
                or not isinstance(parts[0], dict)
                or set(parts[0]) & set(node) - {"description"}
            ):
                raise Inexpressible("it joins schemas with allOf")
            node = self._join_combinators({**parts[0], **node})
        if "$ref" in node:
            return self._join_combinators({**self.node(node, ()), "description": node.get("description", "")})
        if "anyOf" in node and len(_spoken_keywords(node)) > 1:
            raise Inexpressible("something stands beside anyOf")
        return node

    def _close_object(self, kept: Schema, node: Schema, above: tuple[str, ...]) -> None:
        """Close an object: all properties declared, and no others allowed."""
        properties = node.get("properties") or {}
        closed = node.get("additionalProperties") is False
        if (not properties and not closed) or node.get("additionalProperties") or "patternProperties" in node:
            raise Inexpressible("an object does not say what it holds")
        if self.style == "anthropic" and not all(map(ANTHROPIC_KEY.fullmatch, properties)):
            raise Inexpressible("the name of a property is refused there")
        needed = [name for name in node.get("required") or () if name in properties]
        children = {name: self.node(child, above) for name, child in properties.items()}
        if self.style == "openai":  # everything is required, so what was optional may be null
            children = {
                name: child if name in needed else nullable(child) for name, child in children.items()
            }
            needed = list(children)
        kept |= {"properties": children, "required": needed, "additionalProperties": False}


def _spoken_keywords(node: Schema) -> list[str]:
    return [key for key in node if key not in (*UNSPOKEN, *HINTS, "description", "title")]


def _kinds(node: Schema) -> set[str]:
    """The types of a value. A schema must name them, or list the values."""
    said = node.get("type")
    if said is None and "properties" in node:
        node["type"] = said = "object"
    if said is None and not {"anyOf", "enum", "const"} & set(node):
        raise Inexpressible("a value may be of any type")
    return {said} if isinstance(said, str) else set(said or ())


def nullable(schema: Schema) -> Schema:
    """The same schema, for a value that may be left out."""
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema and "const" not in schema:
        return schema if kind == "null" else {**schema, "type": [kind, "null"]}
    if isinstance(kind, list) and "enum" not in schema and "const" not in schema:
        return schema if "null" in kind else {**schema, "type": [*kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


# How much the strict tools of one request may leave open


class Freedom:
    """How much the strict tools of one request may still leave open before Anthropic refuses them."""

    def __init__(self) -> None:
        self._tools = MAX_STRICT
        self._optional = MAX_OPTIONAL
        self._unions = MAX_UNIONS

    def takes(self, schema: Schema) -> bool:
        """Whether this schema fits beside those taken before; if so, it is counted."""
        optional, unions = _openness(schema)
        fits = self._tools > 0 and optional <= self._optional and unions <= self._unions
        if not fits or optional > MAX_OPTIONAL_IN_ONE:
            return False
        self._tools -= 1
        self._optional -= optional
        self._unions -= unions
        return True


def _openness(schema: Schema) -> tuple[int, int]:
    """How many parameters are optional, and how many are unions."""
    optional = unions = 0
    for node in _nodes(schema):
        required = node.get("required") or ()
        for name, child in (node.get("properties") or {}).items():
            optional += name not in required
            unions += isinstance(child.get("type"), list) or "anyOf" in child
    return optional, unions


def _nodes(schema: Schema) -> Iterator[Schema]:
    yield schema
    children = [*(schema.get("properties") or {}).values(), *(schema.get("anyOf") or ())]
    if isinstance(items := schema.get("items"), dict):
        children.append(items)
    for child in children:
        yield from _nodes(child)
