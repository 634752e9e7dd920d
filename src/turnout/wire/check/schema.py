"""Walking a tool's JSON Schema: every subschema once, without recursion.

Only values of keywords that hold schemas are entered, so a property with the name
`properties` is a property.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .chat.view import array, mapping

_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")

Context = tuple[str, ...]


def nodes(schema: Any) -> Iterator[tuple[Context, Mapping[str, Any]]]:
    """Every subschema that is an object, with the keys that lead to it; the root first."""
    waiting: list[tuple[Context, Any]] = [((), schema)]
    while waiting:
        context, node = waiting.pop()
        if isinstance(node, Mapping):
            yield context, node
            waiting.extend(
                ((*context, *steps), child)
                for steps, child in reversed(list(_children_of(node)))
                if isinstance(child, Mapping)
            )


def _children_of(node: Mapping[str, Any]) -> Iterator[tuple[Context, Any]]:
    for key in _NAMED:
        for name, child in mapping(node.get(key)).items():
            yield (key, str(name)), child
    for key in _LISTED:
        for index, child in enumerate(array(node.get(key))):
            yield (key, str(index)), child
    for key in _SINGLE:
        yield (key,), node.get(key)
