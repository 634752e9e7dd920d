"""A failure of a provider in the words of the protocol that the caller speaks.

The status decides what a client does: it asks again after 429, 500, 503 and 529, and gives up after 400.
An upstream that refuses the gateway's key is a 502: it must not look like the caller's own token.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from ...errors import FailureKind, ProviderError, StreamError
from ..shared.growing_bytes import Wire

Failure: TypeAlias = ProviderError | StreamError


INVALID, QUOTA = "invalid_request_error", "insufficient_quota"


class _Words(Struct, frozen=True):
    """One kind of failure: its status, and its label in each family."""

    status: int
    openai: str
    code: str | None
    anthropic: str
    google: str


_WORDS: dict[FailureKind, _Words] = {
    "auth": _Words(502, "server_error", "upstream_auth", "api_error", "UNAVAILABLE"),
    "rate_limit": _Words(
        429, "rate_limit_error", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"
    ),
    "quota": _Words(
        429, "insufficient_quota", "insufficient_quota", "rate_limit_error", "RESOURCE_EXHAUSTED"
    ),
    "overloaded": _Words(503, "server_error", "server_overloaded", "overloaded_error", "UNAVAILABLE"),
    "context_too_long": _Words(400, INVALID, "context_length_exceeded", INVALID, "INVALID_ARGUMENT"),
    "invalid_request": _Words(400, INVALID, None, INVALID, "INVALID_ARGUMENT"),
    "content_filter": _Words(400, INVALID, "content_filter", INVALID, "INVALID_ARGUMENT"),
    "not_found": _Words(404, INVALID, "model_not_found", "not_found_error", "NOT_FOUND"),
    "server": _Words(500, "server_error", "server_error", "api_error", "INTERNAL"),
    "network": _Words(502, "server_error", "upstream_unreachable", "api_error", "UNAVAILABLE"),
    "timeout": _Words(504, "server_error", "timeout", "timeout_error", "DEADLINE_EXCEEDED"),
    "truncated": _Words(502, "server_error", "upstream_cut", "api_error", "UNAVAILABLE"),
    "malformed": _Words(502, "server_error", "upstream_malformed", "api_error", "INTERNAL"),
    "too_large": _Words(413, INVALID, "request_too_large", "request_too_large", "INVALID_ARGUMENT"),
}
_OWN_WORDS: dict[int, _Words] = {
    401: _Words(401, INVALID, "invalid_api_key", "authentication_error", "UNAUTHENTICATED"),
    403: _Words(403, INVALID, None, "permission_error", "PERMISSION_DENIED"),
    404: _Words(404, INVALID, "unknown_url", "not_found_error", "NOT_FOUND"),
    413: _WORDS["too_large"],
    429: _WORDS["rate_limit"],
}
"""Refusals of the server that the caller talks to, before any provider was asked."""
ANTHROPIC_OVERLOADED = 529  # Anthropic's own status for it, which its clients retry


def error_envelope(protocol: str, error: Failure) -> Wire:
    """The body in which an API of this protocol wraps a failure."""
    match protocol:
        case "anthropic":
            return {"type": "error", "error": anthropic_error(error)}
        case "gemini":
            return {"error": gemini_error(error)}
    return {"error": chat_error(error)}


def refusal_envelope(protocol: str, status: int, message: str) -> Wire:
    """The body with which a server of this protocol refuses a request itself: token, path or size."""
    words = _OWN_WORDS.get(status, _WORDS["invalid_request"])
    match protocol:
        case "anthropic":
            return {"type": "error", "error": {"type": words.anthropic, "message": message}}
        case "gemini":
            return {"error": {"code": status, "message": message, "status": words.google}}
    return {"error": {"message": message, "type": words.openai, "param": None, "code": words.code}}


def caller_status(protocol: str, error: Failure) -> int:
    """The HTTP status for the caller."""
    usual = _words_of(error).status
    if error.kind == "overloaded" and protocol == "anthropic":
        return ANTHROPIC_OVERLOADED
    given = getattr(error, "status", None)
    # A status of the upstream is kept where it says the same to a client; its 401 and 403 never are.
    if isinstance(given, int) and given // 100 == usual // 100 and error.kind not in ("auth", "overloaded"):
        return given
    return usual


def _words_of(error: Failure) -> _Words:
    return _WORDS.get(error.kind, _WORDS["server"])


def chat_error(error: Failure) -> Wire:
    """The error object of OpenAI."""
    words = _words_of(error)
    field = getattr(error, "field", None) or None
    code = words.code or (error.code if field is not None and isinstance(error, ProviderError) else None)
    return {"message": error.message, "type": words.openai, "param": field, "code": code}


def responses_error(error: Failure) -> Wire:
    """The error object in a response that failed: a code and a message."""
    words = _words_of(error)
    return {"code": words.code or words.openai, "message": error.message}


def anthropic_error(error: Failure) -> Wire:
    """The error object of Anthropic."""
    return {"type": _words_of(error).anthropic, "message": error.message}


def gemini_error(error: Failure) -> Wire:
    """The error object of Google."""
    wire: Wire = {
        "code": caller_status("gemini", error),
        "message": error.message,
        "status": _words_of(error).google,
    }
    if (wait := getattr(error, "retry_after", None)) is not None:
        info = "type.googleapis.com/google.rpc.RetryInfo"
        wire["details"] = [{"@type": info, "retryDelay": f"{max(wait, 0):g}s"}]
    return wire
