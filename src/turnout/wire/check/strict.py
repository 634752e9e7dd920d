"""What OpenAI requires of a strict schema: closed objects, every property required."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .chat.view import array, mapping, text
from .schema import nodes


def strict_faults(schema: Any) -> Iterator[str]:
    """The provider's text for each object of a strict schema that is open or does not require a key."""
    for context, part in nodes(schema):
        if "properties" not in part and part.get("type") != "object":
            continue
        where = "(" + ", ".join(f"'{step}'" for step in context) + ("," if len(context) == 1 else "") + ")"
        required = {text(key) for key in array(part.get("required"))}
        missing = [key for key in mapping(part.get("properties")) if key not in required]
        if part.get("additionalProperties") is not False:
            yield f"In context={where}, 'additionalProperties' is required to be supplied and to be false."
        if missing:
            yield (
                f"In context={where}, 'required' is required to be supplied and to be an array including "
                f"every key in properties. Missing '{missing[0]}'."
            )
