"""Estimate the size of a schema with all references replaced, before they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .sound_schema import Schema

MOST_PARTS = 10_000
FURTHEST = 100
"""The longest chain of references inside references."""


def unfolds_too_far(schema: dict[str, Any]) -> bool:
    """Whether replacing every reference would take too long: forty can unfold to 10^12 parts."""
    parts = 0
    waiting: list[tuple[Any, tuple[str, ...]]] = [(schema, ())]
    while waiting:
        node, above = waiting.pop()
        parts += 1
        if parts > MOST_PARTS or len(above) > FURTHEST:
            return True
        if isinstance(node, list):
            waiting.extend((each, above) for each in node if isinstance(each, dict | list))
            continue
        if isinstance(reference := node.get("$ref"), str) and reference not in above:
            waiting.append((resolve_reference(reference, schema) or {}, (*above, reference)))
        waiting.extend(
            (value, above)
            for key, value in node.items()
            if isinstance(value, dict | list) and key not in ("$defs", "definitions")
        )
    return False


def resolve_reference(reference: str, root: Mapping[str, Any]) -> Schema | None:
    node: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if not isinstance(node, Mapping):
            return None
        node = node.get(step.replace("~1", "/").replace("~0", "~"))
    return dict(node) if isinstance(node, Mapping) else None
