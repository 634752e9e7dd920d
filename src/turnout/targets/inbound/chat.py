"""What a Chat Completions request asks for, in the words of each server; and Ollama's own API."""

from __future__ import annotations

from typing import Any

from ...wire.options import CHOICES, EFFORTS
from .fields import Fields, found_options

SPELLINGS = {
    **{name: name for name in ("top_k", "frequency_penalty", "presence_penalty", "logprobs")},
    **{name: name for name in ("user", "metadata", "service_tier", "verbosity")},
    "top_logprobs": "logprobs",
    "parallel_tool_calls": "parallel",
    "prompt_cache_key": "cache_key",
    "prompt_cache_retention": "cache_ttl",
    **dict.fromkeys(("thinking.type", "thinking.budget_tokens", "thinking_budget"), "thinking"),
    **dict.fromkeys(("enable_thinking", "reasoning_effort"), "thinking"),
    **dict.fromkeys(("reasoning.enabled", "reasoning.effort", "reasoning.max_tokens"), "thinking"),
}
"""Where servers have the options that not all of them have."""

OLLAMA_FIELDS = ("options", "keep_alive", "think", "format")


def read_options(fields: Fields) -> dict[str, Any]:
    found = {
        **found_options(
            max_tokens=fields.take_first(int, "max_completion_tokens", "max_tokens"),
            temperature=fields.take("temperature", float),
            top_p=fields.take("top_p", float),
            top_k=fields.take("top_k", int),
            frequency_penalty=fields.take("frequency_penalty", float),
            presence_penalty=fields.take("presence_penalty", float),
            seed=fields.take_first(int, "seed", "random_seed"),
            parallel=fields.take("parallel_tool_calls", bool),
            **read_service(fields),
        ),
        **read_stops(fields, "stop"),
        **_thinking_options(fields),
        **_logprobs(fields),
        **_answer_options(fields),
        **_choice_options(fields),
        **_ollama_options(fields),
    }
    fields.take_if("n", 1)  # one answer is the default of every API
    fields.take_if("stream_options.include_usage", True)  # we always ask for usage
    return found


def spelled_options(fields: Fields) -> dict[str, dict[str, Any]]:
    """Options that not every server has, as they were written: we may know little about this server."""
    spelled: dict[str, dict[str, Any]] = {}
    for path, value in fields.taken.items():
        if (option := SPELLINGS.get(path)) is not None:
            above, _, last = path.rpartition(".")
            group = spelled.setdefault(option, {})
            (group.setdefault(above, {}) if above else group)[last] = value
    return spelled


def read_service(fields: Fields) -> dict[str, Any]:
    """Who asks and how it is served: the same words in Chat and Responses."""
    return found_options(
        user=fields.take("user", str),
        metadata=_texts(fields, "metadata"),
        service_tier=fields.take("service_tier", str),
        verbosity=fields.take("verbosity", str),
        cache_key=fields.take("prompt_cache_key", str),
        cache_ttl=fields.take_if("prompt_cache_retention", "24h"),
    )


def read_stops(fields: Fields, path: str) -> dict[str, Any]:
    """Stop words: a list, or a single one."""
    value = fields.peek(path)
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        fields.remove(path)
        return {"stop": tuple(value)} if value else {}
    return found_options(stop=fields.take(path, str))


def read_effort(fields: Fields, path: str) -> str | None:
    """A degree of thinking that every API has a word for; any other value stays."""
    effort: str | None = fields.take_if(path, *EFFORTS)
    return effort


def read_schema(fields: Fields, path: str) -> dict[str, Any]:
    """A schema of the answer with what stands beside it, at `path`."""
    if not isinstance(schema := fields.peek(f"{path}.schema"), dict):
        return {}
    fields.remove(f"{path}.schema")
    return {
        "schema": schema,
        **found_options(
            schema_name=fields.take(f"{path}.name", str),
            schema_description=fields.take(f"{path}.description", str),
            schema_strict=fields.take(f"{path}.strict", bool),
        ),
    }


def _texts(fields: Fields, path: str) -> dict[str, str] | None:
    value = fields.peek(path)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        return None
    fields.remove(path)
    return value or None


def _thinking_options(fields: Fields) -> dict[str, Any]:
    switch = fields.take_if("thinking.type", "enabled", "disabled", "adaptive")
    enabled = fields.take_first(bool, "enable_thinking", "reasoning.enabled")
    effort = read_effort(fields, "reasoning_effort") or read_effort(fields, "reasoning.effort")
    budget = fields.take_first(int, "reasoning.max_tokens", "thinking.budget_tokens", "thinking_budget")
    thinking = enabled if switch is None else switch != "disabled"
    if thinking is None and budget is not None:
        thinking = True
    return found_options(thinking=thinking, effort=effort, budget=budget)


def _logprobs(fields: Fields) -> dict[str, Any]:
    if fields.take_if("logprobs", True, False) is not True:
        return {}
    return {"logprobs": fields.take("top_logprobs", int) or 0}


def _answer_options(fields: Fields) -> dict[str, Any]:
    match fields.take_if("response_format.type", "text", "json_object", "json_schema"):
        case "json_object":
            return {"json": True}
        case "json_schema":
            return read_schema(fields, "response_format.json_schema")
        case _:
            return {}


def _choice_options(fields: Fields) -> dict[str, Any]:
    path = "tool_choice" if fields.has("tool_choice") else "function_call"
    choice = fields.peek(path)
    match choice:
        case str() if choice in CHOICES:
            pass
        case "any":
            choice = "required"
        case {"type": "function", "function": {"name": str(name)}} | {"name": str(name)}:
            choice = name
        case {"type": "custom", "custom": {"name": str(name)}}:
            choice = name
        case str():
            fields.remove(path)
            fields.drop(path, f"{choice!r} is not a choice that any API has")
            return {}
        case _:
            return {}
    fields.remove(path)
    return {"tool_choice": choice}


def _ollama_options(fields: Fields) -> dict[str, Any]:
    """Fields of Ollama's own API, which its Chat API does not have."""
    if not any(fields.has(name) for name in OLLAMA_FIELDS):
        return {}
    found = ollama_options(fields)
    for name in OLLAMA_FIELDS:
        if fields.has(name):
            fields.drop(name, "a field of Ollama's own API; its Chat API does not have it")
            fields.remove(name)
    return found


def ollama_options(fields: Fields) -> dict[str, Any]:
    """What a request to Ollama's own API asks for. The rest stays: `num_ctx`, `keep_alive`."""
    think = fields.take_if("think", True, False)
    form = fields.peek("format")
    found = found_options(
        max_tokens=fields.take("options.num_predict", int),
        temperature=fields.take("options.temperature", float),
        top_p=fields.take("options.top_p", float),
        top_k=fields.take("options.top_k", int),
        seed=fields.take("options.seed", int),
        frequency_penalty=fields.take("options.frequency_penalty", float),
        presence_penalty=fields.take("options.presence_penalty", float),
        thinking=think,
        effort=read_effort(fields, "think"),
        json=fields.take_if("format", "json") and True,
        schema=form if isinstance(form, dict) else None,
        **read_stops(fields, "options.stop"),
    )
    if "schema" in found:
        fields.remove("format")
    fields.take_if("format", "")  # as clients write "no format"
    return found
