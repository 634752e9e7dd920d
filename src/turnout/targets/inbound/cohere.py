"""What a request to Cohere's Chat, version 2, asks for."""

from __future__ import annotations

from typing import Any

from .chat import read_stops
from .fields import Fields, found_options

CHOICES = {"REQUIRED": "required", "NONE": "none"}


def read_options(fields: Fields) -> dict[str, Any]:
    found = {
        **found_options(
            max_tokens=fields.take("max_tokens", int),
            temperature=fields.take("temperature", float),
            top_p=fields.take("p", float),
            top_k=fields.take("k", int),
            seed=fields.take("seed", int),
            frequency_penalty=fields.take("frequency_penalty", float),
            presence_penalty=fields.take("presence_penalty", float),
            strict=fields.take("strict_tools", bool) or None,
        ),
        **read_stops(fields, "stop_sequences"),
        **_thinking_budget(fields),
        **_answer_options(fields),
    }
    if fields.take("logprobs", bool):
        found["logprobs"] = 0
    if (choice := fields.take_if("tool_choice", *CHOICES)) is not None:
        found["tool_choice"] = CHOICES[choice]
    fields.take_if("documents", [])
    return found


def _thinking_budget(fields: Fields) -> dict[str, Any]:
    switch = fields.take_if("thinking.type", "enabled", "disabled")
    budget = fields.take("thinking.token_budget", int)
    return found_options(thinking=None if switch is None else switch == "enabled", budget=budget)


def _answer_options(fields: Fields) -> dict[str, Any]:
    if fields.take_if("response_format.type", "text", "json_object") != "json_object":
        return {}
    for path in ("response_format.json_schema", "response_format.schema"):
        if isinstance(schema := fields.peek(path), dict):
            fields.remove(path)
            return {"schema": schema}
    return {"json": True}
