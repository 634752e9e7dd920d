"""Failures as each provider sends them: its text, envelope and headers.

A failure has one of the kinds of `FailureKind`; its text for a provider is a row of a table
(`failure_words`). There are few envelopes: most servers of Chat use the one of OpenAI.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..errors import FailureKind
from ..wire.shared.framing import encode
from .failure_words import FailureText, failure_text
from .script import HttpError

Wire = dict[str, Any]


class FailureResponse(Struct, frozen=True):
    """A failure as it is sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def failure_response(
    error: HttpError | str, provider: str, protocol: str, *, model: str = "", key: str = "", path: str = ""
) -> FailureResponse:
    """A failure as the provider sends it. A text is a key of the tables."""
    wanted = error if isinstance(error, HttpError) else HttpError()
    words = failure_text(provider, protocol, error if isinstance(error, str) else error.kind)
    message = wanted.message or words.message.format(model=model, key=_mask_key(key), path=path)
    filled = FailureText(wanted.status or words.status, words.type, message, words.code, words.param)
    headers, details = _retry_hint(wanted, protocol)
    if provider == "bedrock":
        headers = {**headers, "x-amzn-errortype": words.type}
    return FailureResponse(filled.status, headers, encode(envelope(filled, provider, protocol, details)))


def failure_in_stream(
    kind: FailureKind, message: str, provider: str, protocol: str, model: str
) -> FailureText:
    """The failure of a provider in the middle of a stream."""
    words = failure_text(provider, protocol, kind)
    text = message or words.message.format(model=model, key="", path="")
    return FailureText(words.status, words.type, text, words.code, words.param)


def envelope(words: FailureText, provider: str, protocol: str, details: list[Wire] | None = None) -> Wire:
    """The body in which this provider wraps a failure."""
    if protocol == "anthropic":
        return {"type": "error", "error": {"type": words.type, "message": words.message}}
    if protocol == "gemini":
        return {"error": _google(words, details)}
    if protocol == "cohere":
        return {"id": "0", "message": words.message}
    if protocol == "ollama":
        return {"error": words.message}
    if provider == "bedrock":
        return {"message": words.message}
    match provider:
        case "mistral" if words.code is None:
            return {"message": words.message, "request_id": "0"}
        case "mistral":
            return {
                "object": "error",
                "message": words.message,
                "type": words.type,
                "param": None,
                "code": words.code,
            }
        case "xai":
            return {"code": words.type, "error": words.message}
        case "openrouter":
            return {"error": _openrouter(words)}
        case "copilot":
            return {"error": {"message": words.message, "code": words.code or ""}}
        case "vllm":
            return {"object": "error", "message": words.message, "type": words.type, "code": words.status}
        case "llamacpp":
            return {"error": {"code": words.status, "message": words.message, "type": words.type}}
        case _:
            named = {"type": words.type, "param": words.param, "code": words.code}
            return {"error": {"message": words.message, **named}}


def _google(words: FailureText, details: list[Wire] | None) -> Wire:
    more = list(details or ())
    if words.code:
        info = "type.googleapis.com/google.rpc.ErrorInfo"
        more.append({"@type": info, "reason": words.code, "domain": "googleapis.com"})
    if "current quota" in words.message:
        failed = "type.googleapis.com/google.rpc.QuotaFailure"
        more.append({"@type": failed, "violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]})
    return {"code": words.status, "message": words.message, "status": words.type, "details": more}


def _openrouter(words: FailureText) -> Wire:
    """OpenRouter quotes the answer of the upstream provider."""
    if not words.param:
        return {"message": words.message, "code": words.status}
    quoted = {"raw": words.message, "provider_name": words.param}
    return {"message": "Provider returned error", "code": words.status, "metadata": quoted}


def _retry_hint(error: HttpError, protocol: str) -> tuple[dict[str, str], list[Wire]]:
    """When to retry: Gemini says it in the body, every other provider in a header."""
    after = error.retry_after
    if after is None:
        return {}, []
    if protocol == "gemini" and not isinstance(after, str):
        info = "type.googleapis.com/google.rpc.RetryInfo"
        return {}, [{"@type": info, "retryDelay": f"{after:g}s"}]
    return {"retry-after": after if isinstance(after, str) else f"{after:g}"}, []


def _mask_key(key: str) -> str:
    return f"{key[:4]}{'*' * 8}{key[-4:]}" if len(key) > 8 else "*" * len(key)
