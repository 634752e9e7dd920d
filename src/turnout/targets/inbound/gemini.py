"""What a generateContent request asks for, in camel or snake case, and as the SDK's `config`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...declarations import json_schema
from .chat import read_stops
from .fields import Fields, found_options

CONFIG = "generationConfig"
# What the SDK writes beside `systemInstruction` and `tools`; the API has it in `generationConfig`.
GENERATION = frozenset(
    {
        *("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "seed"),
        *("responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities"),
        *("presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs", "thinkingConfig"),
        *("speechConfig", "mediaResolution", "audioTimestamp", "imageConfig", "routingConfig"),
        *("enableEnhancedCivicAnswers", "modelSelectionConfig"),
    }
)
SDK_ONLY = ("httpOptions", "automaticFunctionCalling", "shouldReturnHttpResponse")
MODES = {"AUTO": "auto", "NONE": "none", "ANY": "required"}
LEVELS = {"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high"}


def read_options(fields: Fields) -> dict[str, Any]:
    _spell_as_the_api_does(fields.leftover)
    found = {
        **found_options(
            max_tokens=fields.take(f"{CONFIG}.maxOutputTokens", int),
            temperature=fields.take(f"{CONFIG}.temperature", float),
            top_p=fields.take(f"{CONFIG}.topP", float),
            top_k=_whole(fields.take(f"{CONFIG}.topK", float)),
            seed=fields.take(f"{CONFIG}.seed", int),
            frequency_penalty=fields.take(f"{CONFIG}.frequencyPenalty", float),
            presence_penalty=fields.take(f"{CONFIG}.presencePenalty", float),
        ),
        **read_stops(fields, f"{CONFIG}.stopSequences"),
        **_logprobs(fields),
        **_thinking_options(fields),
        **_answer_options(fields),
        **_choice_options(fields),
    }
    fields.take_if(f"{CONFIG}.candidateCount", 1)  # one answer is the default of every API
    for name in SDK_ONLY:
        if fields.has(name):
            fields.drop(name, "an option of Google's SDK, not of its API")
            fields.remove(name)
    return found


def _spell_as_the_api_does(body: dict[str, Any]) -> None:
    """In place: one spelling, and everything that shapes the answer in `generationConfig`."""
    for name in list(body):
        body[_camel(name)] = body.pop(name)
    config = _camel_keys(body.pop(CONFIG, None))
    config |= {name: body.pop(name) for name in GENERATION.intersection(body)}
    if isinstance(config.get("thinkingConfig"), Mapping):
        config["thinkingConfig"] = _camel_keys(config["thinkingConfig"])
    if config:
        body[CONFIG] = config
    if isinstance(body.get("toolConfig"), Mapping):
        tools = body["toolConfig"] = _camel_keys(body["toolConfig"])
        if isinstance(tools.get("functionCallingConfig"), Mapping):
            tools["functionCallingConfig"] = _camel_keys(tools["functionCallingConfig"])


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda joint: joint[1].upper(), name)


def _camel_keys(value: Any) -> dict[str, Any]:
    return {_camel(name): item for name, item in value.items()} if isinstance(value, Mapping) else {}


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _logprobs(fields: Fields) -> dict[str, Any]:
    if fields.take_if(f"{CONFIG}.responseLogprobs", True, False) is not True:
        return {}
    return {"logprobs": fields.take(f"{CONFIG}.logprobs", int) or 0}


def _thinking_options(fields: Fields) -> dict[str, Any]:
    path = f"{CONFIG}.thinkingConfig"
    shown = fields.take_if(f"{path}.includeThoughts", True)
    budget = fields.take(f"{path}.thinkingBudget", int)
    level = fields.peek(f"{path}.thinkingLevel")
    effort = LEVELS.get(level.upper()) if isinstance(level, str) else None
    if effort is not None:
        fields.remove(f"{path}.thinkingLevel")
    if budget == 0:
        return {"thinking": False}
    thinking = True if shown or budget is not None else None
    return found_options(thinking=thinking, effort=effort, budget=None if budget == -1 else budget)


def _answer_options(fields: Fields) -> dict[str, Any]:
    if fields.take_if(f"{CONFIG}.responseMimeType", "application/json", "text/plain") != "application/json":
        return {}
    for path in (f"{CONFIG}.responseJsonSchema", f"{CONFIG}.responseSchema"):
        if isinstance(schema := fields.peek(path), dict):
            fields.remove(path)
            return {"schema": json_schema(schema)}
    return {"json": True}


def _choice_options(fields: Fields) -> dict[str, Any]:
    path = "toolConfig.functionCallingConfig"
    mode = fields.peek(f"{path}.mode")
    choice = MODES.get(mode.upper()) if isinstance(mode, str) else None
    if choice is None:
        return {}
    fields.remove(f"{path}.mode")
    match fields.peek(f"{path}.allowedFunctionNames"):
        case [str(name)] if choice == "required":
            fields.remove(f"{path}.allowedFunctionNames")
            return {"tool_choice": name}
        case []:
            fields.remove(f"{path}.allowedFunctionNames")
        case list() if choice != "required":
            fields.remove(f"{path}.allowedFunctionNames")
            fields.drop("allowedFunctionNames", f"goes with mode ANY, not with {mode}")
    return {"tool_choice": choice}
