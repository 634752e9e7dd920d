"""What a Responses request asks for."""

from __future__ import annotations

from typing import Any

from ...wire.options import CHOICES
from .chat import read_effort, read_schema, read_service
from .fields import Fields, found_options

ENCRYPTED = ["reasoning.encrypted_content"]


def read_options(fields: Fields) -> dict[str, Any]:
    found = {
        **found_options(
            max_tokens=fields.take("max_output_tokens", int),
            temperature=fields.take("temperature", float),
            top_p=fields.take("top_p", float),
            parallel=fields.take("parallel_tool_calls", bool),
            logprobs=fields.take("top_logprobs", int),
            effort=read_effort(fields, "reasoning.effort"),
        ),
        **_answer_options(fields),
        **read_service(fields),
        **found_options(verbosity=fields.take("text.verbosity", str)),
        **_choice_options(fields),
    }
    if "effort" in found and not fields.has("reasoning.summary"):
        fields.leftover.setdefault("reasoning", {})["summary"] = None  # a summary is asked for by none but us
    fields.take_if("store", False)  # nothing is stored unless it is asked for
    fields.take_if("include", ENCRYPTED)  # asked for wherever there is reasoning
    return found


def _answer_options(fields: Fields) -> dict[str, Any]:
    match fields.take_if("text.format.type", "text", "json_object", "json_schema"):
        case "json_object":
            return {"json": True}
        case "json_schema":
            return read_schema(fields, "text.format")
        case _:
            return {}


def _choice_options(fields: Fields) -> dict[str, Any]:
    match fields.peek("tool_choice"):
        case str() as choice if choice in CHOICES:
            fields.remove("tool_choice")
            return {"tool_choice": choice}
        case {"type": "function" | "custom", "name": str(name)}:
            fields.remove("tool_choice")
            return {"tool_choice": name}
        case _:
            return {}
