"""What an Anthropic Messages request asks for."""

from __future__ import annotations

from typing import Any

from .chat import read_effort, read_stops
from .fields import Fields, found_options

CHOICES = {"auto": "auto", "any": "required", "none": "none"}
HEADERS = ("anthropic_version", "anthropic_beta", "betas")
"""Bedrock, Vertex and the SDK put into the body what the API takes as headers."""


def read_options(fields: Fields) -> dict[str, Any]:
    found = {
        **found_options(
            max_tokens=fields.take("max_tokens", int),
            temperature=fields.take("temperature", float),
            top_p=fields.take("top_p", float),
            top_k=fields.take("top_k", int),
            effort=read_effort(fields, "output_config.effort"),
            user=fields.take("metadata.user_id", str),
            service_tier=fields.take("service_tier", str),
            cache_control=_cache_control(fields),
        ),
        **read_stops(fields, "stop_sequences"),
        **_thinking_options(fields),
        **_answer_options(fields),
        **_choice_options(fields),
    }
    for name in HEADERS:
        if fields.has(name):
            fields.drop(name, "a header of the API; what a request needs of it is written anew")
            fields.remove(name)
    return found


def _cache_control(fields: Fields) -> dict[str, Any] | None:
    """The marker of the whole request, as those of single blocks are held."""
    marker = fields.take("cache_control", dict)
    return None if marker is None else {"cache_control": marker}


def _thinking_options(fields: Fields) -> dict[str, Any]:
    switch = fields.take_if("thinking.type", "enabled", "disabled", "adaptive")
    if switch is None:
        return {}
    return found_options(thinking=switch != "disabled", budget=fields.take("thinking.budget_tokens", int))


def _answer_options(fields: Fields) -> dict[str, Any]:
    """The schema of the answer; `output_format` is what it was called in the beta."""
    for path in ("output_config.format", "output_format"):
        if fields.peek(f"{path}.type") == "json_schema" and isinstance(
            schema := fields.peek(f"{path}.schema"), dict
        ):
            fields.remove(path)
            return {"schema": schema}
    return {}


def _choice_options(fields: Fields) -> dict[str, Any]:
    choice = fields.take_if("tool_choice.type", *CHOICES, "tool")
    if choice is None:
        return {}
    alone = fields.take("tool_choice.disable_parallel_tool_use", bool)
    name = fields.take("tool_choice.name", str) if choice == "tool" else CHOICES[choice]
    return found_options(tool_choice=name, parallel=None if alone is None else not alone)
