"""The shape of an answer, told in words to models whose API does not take a schema for it."""

from __future__ import annotations

from msgspec.structs import replace

from ..plain import dumps
from ..providers.answer_forms import answer_form
from ..wire.options import Options
from .target import Target

INSTRUCTION = "Answer with JSON only, without any other text. It must fit this JSON Schema:\n"
"""It says "JSON": DeepSeek refuses its JSON mode where no message has that word."""


def with_answer_in_words(
    asked: Options, system: str, place: Target, changes: list[str], *, has_tools: bool
) -> tuple[Options, str]:
    """The options without a schema that this target refuses, and the system text that tells it instead."""
    if asked.schema is None:
        return asked, system
    form = answer_form(place.provider.name, place.model, has_tools=has_tools)
    if form == "schema":
        return asked, system
    changes.append(f"schema told in words: {place.model} takes no schema for its answer in this request")
    told = INSTRUCTION + dumps(asked.schema)
    asked = replace(asked, schema=None, schema_name=None, schema_description=None, schema_strict=None)
    return replace(asked, json=form == "json"), f"{system}\n\n{told}" if system else told
