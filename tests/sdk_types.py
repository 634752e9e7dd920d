"""What the vendors' own SDKs say a request is: their types, with unknown keys forbidden.

OpenAI and Anthropic describe requests as TypedDicts, Google and Mistral as pydantic models.
Both are made strict here: nothing is coerced, nothing unknown is let through. A Chat dialect
may carry keys beyond OpenAI's, but only those that its own documents name.
"""

from __future__ import annotations

import collections.abc
import types as python
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin

import anthropic.types.beta.message_create_params as anthropic_beta_params
import anthropic.types.message_create_params as anthropic_params
import cohere
import msgspec
import ollama._types as ollama
import openai.types.chat.completion_create_params as chat_params
import openai.types.responses.response_create_params as responses_params
import typing_extensions
from google.genai import types as google
from mistralai.client import models as mistral
from pydantic import TypeAdapter, ValidationError
from tests.botocore_shapes import refusals_of_shape, request_shape

STRICT = {"extra": "forbid", "strict": True}
Nothing = Literal["\0 no value at all"]  # no JSON value is of this type
JSON_TYPES = (str, int, float, bool, type(None), object)

# Keys that a dialect documents beyond OpenAI's: in the request, and in messages by role.
DOCUMENTED: dict[str, dict[str, tuple[str, ...]]] = {
    "kimi": {"request": ("thinking",), "assistant": ("reasoning_content",)},
    "deepseek": {"request": ("thinking",), "assistant": ("reasoning_content",)},
    "zai": {
        "request": ("thinking",),
        "assistant": ("reasoning_content",),
        "tool declaration": (),
        "tool type": ("web_search",),
    },
    "qwen": {"request": ("enable_thinking", "thinking_budget", "top_k")},
    "openrouter": {
        "request": ("reasoning", "top_k"),
        "assistant": ("reasoning", "reasoning_details"),
        "tool declaration": ("eager_input_streaming",),
        "tool type": ("openrouter:",),
    },
    "copilot": {"assistant": ("reasoning_text", "reasoning_opaque")},
    "vllm": {"request": ("top_k",), "assistant": ("reasoning",)},
    "compatible": {
        "assistant": ("reasoning_content", "reasoning_details"),
        "call": ("extra_content",),
        "part": ("video_url", "audio_url"),  # as vLLM and Qwen have them
    },
    "sambanova": {"request": ("top_k",), "assistant": ("reasoning_content",)},
    "together": {"request": ("top_k",), "assistant": ("reasoning_content",)},
    "fireworks": {"request": ("top_k",), "assistant": ("reasoning_content",)},
    "groq": {
        "assistant": ("reasoning_content",),
        "tool declaration": (),
        "tool type": ("browser_search", "code_interpreter"),
    },
    "ollama": {"assistant": ("reasoning",)},
    "llamacpp": {"request": ("top_k",), "assistant": ("reasoning_content",)},
    "lmstudio": {"request": ("top_k",), "assistant": ("reasoning_content",)},
}
OLDER_CLAUDES = ("temperature", "top_p", "top_k")  # the API takes them of models that the SDK has left behind
BETA_FIELDS = {"context_management", "mcp_servers"}
BETA_TOOLS = ("advisor_", "computer_2", "mcp_toolset")
MISTRAL_NAMES = ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral")


def refusals(protocol: str, provider: str, model: str, body: bytes) -> list[str]:
    """What the SDK's types find wrong with a body; nothing when they accept it."""
    try:
        match protocol:
            case "chat" if provider == "mistral":
                mistral.ChatCompletionRequest.model_validate_json(body, extra="forbid")
            case "chat":
                _typed("chat").validate_python(
                    undocumented(documented(provider, model), msgspec.json.decode(body))
                )
            case "ollama":
                _ollama(msgspec.json.decode(body))
            case "cohere":
                _cohere(msgspec.json.decode(body))
            case "gemini":
                _gemini(msgspec.json.decode(body))
            case "converse":
                return list(refusals_of_shape(msgspec.json.decode(body), request_shape()))
            case "invoke":  # Anthropic's SDK takes the model and the version out of the body itself
                said = ("anthropic_version", "anthropic_beta")  # by headers, in the SDK
                request = _without(msgspec.json.decode(body), (*OLDER_CLAUDES, *said))
                form = "anthropic beta" if _is_beta(request) else "anthropic"
                _typed(form).validate_python({**request, "model": model})
            case "anthropic":
                request = _without(msgspec.json.decode(body), OLDER_CLAUDES)
                if provider == "vertex":  # as Anthropic's SDK for Vertex is called: it moves both itself
                    request = {**_without(request, ("anthropic_version",)), "model": model}
                _typed("anthropic beta" if _is_beta(request) else protocol).validate_python(request)
            case _:
                _typed(protocol).validate_json(body)
    except ValidationError as error:
        return [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
    except (_Unknown, ValueError) as error:  # Mistral's models raise ValueError for an unknown role
        return [str(error)]
    return []


@cache
def _typed(protocol: str) -> TypeAdapter[Any]:
    match protocol:
        case "chat":
            hints: tuple[Any, ...] = (
                chat_params.CompletionCreateParamsNonStreaming,
                chat_params.CompletionCreateParamsStreaming,
            )
        case "responses":
            hints = (
                responses_params.ResponseCreateParamsNonStreaming,
                responses_params.ResponseCreateParamsStreaming,
            )
        case "anthropic beta":
            hints = (
                anthropic_beta_params.MessageCreateParamsNonStreaming,
                anthropic_beta_params.MessageCreateParamsStreaming,
            )
        case _:
            hints = (
                anthropic_params.MessageCreateParamsNonStreaming,
                anthropic_params.MessageCreateParamsStreaming,
            )
    return TypeAdapter(Union[tuple(_strict(hint) for hint in hints)])  # noqa: UP007


def _is_beta(request: dict[str, Any]) -> bool:
    """Whether a header must say so: the SDK has types of its own for these."""
    kinds = [tool.get("type") or "" for tool in request.get("tools", ())]
    return not BETA_FIELDS.isdisjoint(request) or any(kind.startswith(BETA_TOOLS) for kind in kinds)


def documented(provider: str, model: str) -> dict[str, tuple[str, ...]]:
    """The keys beyond OpenAI's that this server knows for this model."""
    known = DOCUMENTED.get(provider, {})
    if any(name in model.lower() for name in MISTRAL_NAMES):
        return {**known, "tool": ("name",)}  # the family names its results, wherever it is served
    return known


def undocumented(known: Mapping[str, tuple[str, ...]], body: dict[str, Any]) -> dict[str, Any]:
    """The body without the keys that this dialect documents for itself."""
    rest = _without(body, known.get("request", ()))
    rest["messages"] = [_plain_message(message, known) for message in body["messages"]]
    if "tools" in rest and "tool declaration" in known:
        listed = [_without(tool, known["tool declaration"]) for tool in rest["tools"]]
        rest["tools"] = [tool for tool in listed if not tool["type"].startswith(known["tool type"])]
    return rest


def _plain_message(message: dict[str, Any], known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    rest = _without(message, known.get(message["role"], ()))
    if "tool_calls" in rest and "call" in known:
        rest["tool_calls"] = [_without(call, known["call"]) for call in rest["tool_calls"]]
    if "part" in known and isinstance(rest.get("content"), list):
        rest["content"] = [part for part in rest["content"] if part["type"] not in known["part"]]
    return rest


def _without(value: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in names}


# TypedDicts, made strict


@cache
def _strict(hint: Any) -> Any:
    """The same type with unknown keys forbidden and lists where the SDK takes anything iterable."""
    if typing_extensions.is_typeddict(hint):
        return _strict_dict(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired, typing_extensions.Required, typing_extensions.NotRequired):
        return _strict(inner[0])
    if origin is typing_extensions.Annotated:
        return _strict(inner[0])
    if origin in (Union, python.UnionType):
        kept = [_strict(item) for item in inner if _is_json(item)]
        return Union[tuple(kept)] if kept else Nothing  # noqa: UP007
    if origin is dict:
        return dict[str, _strict(inner[1])]  # type: ignore[misc]
    if inner and origin is not Literal:
        return list[_strict(inner[0])]  # type: ignore[misc]
    return hint


def _strict_dict(hint: Any) -> Any:
    fields = typing_extensions.get_type_hints(hint, include_extras=True)
    required = hint.__required_keys__
    made = typing_extensions.TypedDict(  # type: ignore[operator]
        hint.__name__,
        {
            name: _strict(field) if name in required else NotRequired[_strict(field)]
            for name, field in fields.items()
        },
    )
    made.__pydantic_config__ = STRICT
    return made


def _is_json(hint: Any) -> bool:
    """Whether a JSON value can be of this type; SDKs also take files and paths."""
    if hint in JSON_TYPES or hint is Any or typing_extensions.is_typeddict(hint):
        return True
    origin = get_origin(hint)
    return origin in (Literal, Union, dict, list, python.UnionType, typing_extensions.Annotated) or (
        isinstance(origin, type) and issubclass(origin, collections.abc.Iterable)
    )


# Ollama's and Cohere's models


def _ollama(body: dict[str, Any]) -> None:
    """The SDK takes images as files too, and messages as any object, so these are looked at one by one."""
    ollama.ChatRequest.model_validate(_without(body, ("messages", "tools")), extra="forbid")
    for tool in body.get("tools", ()):  # a schema has more words than the SDK names
        ollama.Tool.model_validate(tool)
    for message in body["messages"]:
        ollama.Message.model_validate(_without(message, ("images",)), extra="forbid", strict=True)
    ollama.Options.model_validate(body["options"], extra="forbid", strict=True)


COHERE_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("model", "safety_mode", "tool_choice"), str),
    **dict.fromkeys(("stream", "logprobs", "strict_tools"), bool),
    **dict.fromkeys(("max_tokens", "seed", "k", "priority"), int),
    **dict.fromkeys(("temperature", "p", "frequency_penalty", "presence_penalty"), float),
    "stop_sequences": list[str],
    "tools": list[cohere.ToolV2],
    "documents": list[str | cohere.Document],
    "citation_options": cohere.CitationOptions,
    "response_format": cohere.ResponseFormatV2,
    "thinking": cohere.Thinking,
}
COHERE_MESSAGES: dict[str, Any] = {
    "user": cohere.UserChatMessageV2,
    "assistant": cohere.AssistantChatMessageV2,
    "system": cohere.SystemChatMessageV2,
    "tool": cohere.ToolChatMessageV2,
}


def _cohere(body: dict[str, Any]) -> None:
    for name, value in _without(body, ("messages",)).items():
        if name not in COHERE_FIELDS:
            raise _Unknown(f"{name}: unknown")
        TypeAdapter(COHERE_FIELDS[name]).validate_python(value)
    for message in body["messages"]:
        kind = COHERE_MESSAGES[message["role"]]
        if extra := set(message) - set(kind.model_fields):
            raise _Unknown(f"{sorted(extra)}: unknown in a message")
        kind.model_validate(message)


# Google's models


class _Unknown(Exception):
    """A key that generateContent does not have."""


GEMINI_FIELDS: dict[str, Any] = {
    "contents": list[google.Content],
    "tools": list[google.Tool],
    "toolConfig": google.ToolConfig,
    "systemInstruction": google.Content,
    "generationConfig": google.GenerationConfig,
    "safetySettings": list[google.SafetySetting],
    "cachedContent": str,
}


@cache
def _google(field: str) -> TypeAdapter[Any]:
    return TypeAdapter(GEMINI_FIELDS[field])


def _gemini(body: dict[str, Any]) -> None:
    if "contents" not in body:
        raise _Unknown("contents: missing")
    for name, value in body.items():
        if name not in GEMINI_FIELDS:
            raise _Unknown(f"{name}: unknown")
        _google(name).validate_json(msgspec.json.encode(value))
