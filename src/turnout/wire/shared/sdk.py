"""A request body as the keyword arguments of the provider's own SDK."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..request import WireRequest

# What `create` of each SDK takes as arguments; the rest of a body rides in `extra_body`.
OPENAI_CHAT = """
    messages model audio frequency_penalty function_call functions logit_bias logprobs
    max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction
    presence_penalty prompt_cache_key reasoning_effort response_format safety_identifier seed
    service_tier stop store stream stream_options temperature tool_choice tools top_logprobs
    top_p user verbosity web_search_options
"""
OPENAI_RESPONSES = """
    background conversation include input instructions max_output_tokens max_tool_calls metadata
    model parallel_tool_calls previous_response_id prompt prompt_cache_key reasoning
    safety_identifier service_tier store stream stream_options temperature text tool_choice tools
    top_logprobs top_p truncation user
"""
ANTHROPIC = """
    cache_control container max_tokens messages metadata model output_config service_tier
    stop_sequences stream system thinking tool_choice tools
"""
KNOWN = {
    "chat": frozenset(OPENAI_CHAT.split()),
    "responses": frozenset(OPENAI_RESPONSES.split()),
    "anthropic": frozenset(ANTHROPIC.split()),
}
OWN_HEADERS = ("content-type", "anthropic-version")  # what every SDK sends by itself
BLOBS = ("bytes", "redactedContent")
GEMINI_CONFIG = {
    "systemInstruction": "system_instruction",
    "tools": "tools",
    "toolConfig": "tool_config",
    "safetySettings": "safety_settings",
    "cachedContent": "cached_content",
    "labels": "labels",
}


def params(request: WireRequest) -> dict[str, Any]:
    """The body as keyword arguments of the SDK's `create`."""
    body = request.json
    if request.protocol == "gemini":
        return _gemini_params(body.get("request", body), request.target.model)
    if request.protocol == "converse":
        return {"modelId": request.target.model, **_with_bytes(body)}
    if request.target.provider == "mistral" or request.protocol not in KNOWN:  # their SDKs know every key
        return body
    known = KNOWN[request.protocol]
    taken = {key: value for key, value in body.items() if key in known}
    if extra := {key: value for key, value in body.items() if key not in known}:
        taken["extra_body"] = extra
    if headers := {name: value for name, value in request.headers.items() if name not in OWN_HEADERS}:
        taken["extra_headers"] = headers
    return taken


def _with_bytes(value: Any) -> Any:
    """boto3 takes bytes where the body has base64."""
    if isinstance(value, list):
        return [_with_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: b64decode(item) if name in BLOBS and isinstance(item, str) else _with_bytes(item)
        for name, item in value.items()
    }


def _gemini_params(body: dict[str, Any], model: str) -> dict[str, Any]:
    config = dict(body.get("generationConfig", {}))
    config |= {name: body[key] for key, name in GEMINI_CONFIG.items() if key in body}
    placed = {"contents", "generationConfig", *GEMINI_CONFIG}
    if extra := {key: value for key, value in body.items() if key not in placed}:
        config["http_options"] = {"extra_body": extra}
    call: dict[str, Any] = {"model": model, "contents": body["contents"]}
    return {**call, "config": config} if config else call
