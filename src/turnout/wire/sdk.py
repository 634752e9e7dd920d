"""A request body as the keyword arguments of the provider's own SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .protocol import WireRequest

# What `chat.completions.create` of the OpenAI SDK knows; the rest rides in `extra_body`.
OPENAI_CHAT = frozenset(
    [
        "messages",
        "model",
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    ]
)
GEMINI_CONFIG = {"systemInstruction": "system_instruction", "tools": "tools", "toolConfig": "tool_config"}


def params(request: WireRequest) -> dict[str, Any]:
    """The body as keyword arguments."""
    body = request.json
    match request.protocol:
        case "chat" if request.target.provider != "mistral":  # its own SDK knows every key
            return _chat(body)
        case "gemini":
            return _gemini(body, request.target.model)
        case _:
            return body


def _chat(body: dict[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in body.items() if key in OPENAI_CHAT}
    extra = {key: value for key, value in body.items() if key not in OPENAI_CHAT}
    return {**known, "extra_body": extra} if extra else known


def _gemini(body: dict[str, Any], model: str) -> dict[str, Any]:
    config = dict(body.get("generationConfig", {}))
    config |= {name: body[key] for key, name in GEMINI_CONFIG.items() if key in body}
    call: dict[str, Any] = {"model": model, "contents": body["contents"]}
    return {**call, "config": config} if config else call
