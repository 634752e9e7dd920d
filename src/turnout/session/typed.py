"""Typed answers: a JSON Schema or a class in, a value out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import UsageError
from ..plain import loads

FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n```", re.DOTALL)


class Shape(Struct, frozen=True):
    """What an answer should look like, and how to read it."""

    schema: dict[str, Any]
    kind: Any = None

    @classmethod
    def of(cls, wanted: Any) -> Shape | None:
        if wanted is None:
            return None
        if isinstance(wanted, Mapping):
            return cls(dict(wanted))
        if hasattr(wanted, "model_json_schema"):  # pydantic, without importing it
            return cls(wanted.model_json_schema(), wanted)
        try:
            schema = msgspec.json.schema(wanted)
        except TypeError as error:
            raise UsageError(f"{wanted!r} cannot describe an answer: {error}; give a JSON Schema") from None
        return cls(_inline_definition(schema), wanted)

    def read(self, text: str) -> Any:
        """The value in an answer; fenced JSON is read too."""
        found = FENCED.search(text)
        try:
            value = loads(found.group(1) if found else text)
            if self.kind is None:
                return value
            if hasattr(self.kind, "model_validate"):
                return self.kind.model_validate(value)
            return msgspec.convert(value, self.kind)
        except (ValueError, msgspec.ValidationError) as error:
            raise UsageError(
                f"the answer does not fit what was asked for: {error}; ask again, or change output=. "
                f"It was: {text[:200]}"
            ) from None


def _inline_definition(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself where msgspec only points to it."""
    reference = schema.get("$ref", "")
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return schema
    definitions = schema["$defs"]
    return {**definitions[reference.removeprefix("#/$defs/")], "$defs": definitions}
