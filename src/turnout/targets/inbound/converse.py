"""What a Converse request asks for. `additionalModelRequestFields` is for what one maker's models have."""

from __future__ import annotations

from typing import Any

from ...plain import loads
from .chat import read_effort, read_stops
from .fields import Fields, found_options

CONFIG = "inferenceConfig"
MORE = "additionalModelRequestFields"
FORMAT = "outputConfig.textFormat"


def read_options(fields: Fields) -> dict[str, Any]:
    if fields.has("toolConfig.tools"):
        fields.remove("toolConfig.tools")  # the history has them
    fields.take("modelId", str)
    return {
        **found_options(
            max_tokens=fields.take(f"{CONFIG}.maxTokens", int),
            temperature=fields.take(f"{CONFIG}.temperature", float),
            top_p=fields.take(f"{CONFIG}.topP", float),
            top_k=fields.take_first(int, f"{MORE}.top_k", f"{MORE}.inferenceConfig.topK", f"{MORE}.k"),
            service_tier=fields.take("serviceTier.type", str),
            metadata=_metadata(fields),
        ),
        **read_stops(fields, f"{CONFIG}.stopSequences"),
        **_reasoning_options(fields),
        **_answer_options(fields),
        **_choice_options(fields),
    }


def _metadata(fields: Fields) -> dict[str, str] | None:
    held = fields.peek("requestMetadata")
    if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
        return None
    fields.remove("requestMetadata")
    return held or None


def _reasoning_options(fields: Fields) -> dict[str, Any]:
    """Claude's words, Nova's, and those of models that take an effort."""
    switch = fields.take_if(f"{MORE}.thinking.type", "enabled", "disabled", "adaptive")
    switch = switch or fields.take_if(f"{MORE}.reasoningConfig.type", "enabled", "disabled")
    efforts = ("output_config.effort", "reasoningConfig.maxReasoningEffort", "reasoning_effort")
    found = (read_effort(fields, f"{MORE}.{name}") for name in efforts)
    return found_options(
        thinking=None if switch is None else switch != "disabled",
        budget=fields.take(f"{MORE}.thinking.budget_tokens", int),
        effort=next((effort for effort in found if effort), None),
    )


def _answer_options(fields: Fields) -> dict[str, Any]:
    path = f"{FORMAT}.structure.jsonSchema"
    schema = _parsed_schema(fields.peek(f"{path}.schema"))
    if fields.peek(f"{FORMAT}.type") != "json_schema" or schema is None:
        return {}
    fields.remove(f"{path}.schema")
    name = fields.take(f"{path}.name", str)
    description = fields.take(f"{path}.description", str)
    fields.remove(f"{FORMAT}.type")
    return found_options(schema=schema, schema_name=name, schema_description=description)


def _parsed_schema(text: Any) -> dict[str, Any] | None:
    """The schema, which is written as JSON text."""
    try:
        schema = loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return None
    return schema if isinstance(schema, dict) else None


def _choice_options(fields: Fields) -> dict[str, Any]:
    match fields.peek("toolConfig.toolChoice"):
        case {"tool": {"name": str(name)}}:
            fields.remove("toolConfig.toolChoice")
            return {"tool_choice": name}
        case {"auto": _}:
            fields.remove("toolConfig.toolChoice")
            return {"tool_choice": "auto"}
        case {"any": _}:
            fields.remove("toolConfig.toolChoice")
            return {"tool_choice": "required"}
    return {}
