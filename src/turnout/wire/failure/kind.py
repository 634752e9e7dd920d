"""The kind of a failure: by its codes, then by its message, then by its status.

The status comes last, because an overload may be a 429, 503, 529 or inside a 200, and a 400
may be a prompt that is too long, a wrong key, or a call without its result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ...errors import FailureKind
from .broken_rule import broken_rule

_KIND_OF_WORD: dict[str, FailureKind] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "invalid_authentication_error": "auth",
    "incorrect_api_key_error": "auth",
    "permission_denied_error": "auth",
    "unauthenticated": "auth",
    "unauthorized": "auth",
    "permission_denied": "auth",
    "api_key_invalid": "auth",
    "forbidden": "auth",
    "accessdeniedexception": "auth",
    "expiredtokenexception": "auth",
    "unrecognizedclientexception": "auth",
    "insufficient_quota": "quota",
    "exceeded_current_quota_error": "quota",
    "billing_error": "quota",
    "billing_hard_limit_reached": "quota",
    "insufficient_balance": "quota",
    "arrearage": "quota",
    "quota_exceeded": "quota",
    "servicequotaexceededexception": "quota",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_reached_error": "rate_limit",
    "ratelimitreached": "rate_limit",
    "rate_limited": "rate_limit",
    "too_many_requests": "rate_limit",
    "throttling": "rate_limit",
    "throttlingexception": "rate_limit",
    "resource_exhausted": "rate_limit",
    "overloaded_error": "overloaded",
    "engine_overloaded_error": "overloaded",
    "engine_overloaded": "overloaded",
    "server_overloaded": "overloaded",
    "service_unavailable": "overloaded",
    "service_unavailable_error": "overloaded",
    "slow_down": "overloaded",
    "unavailable": "overloaded",
    "serviceunavailableexception": "overloaded",
    "modelnotreadyexception": "overloaded",
    "context_length_exceeded": "context_too_long",
    "context_window_exceeded": "context_too_long",
    "exceed_context_size_error": "context_too_long",
    "model_max_prompt_tokens_exceeded": "context_too_long",
    "request_too_large": "context_too_long",
    "too_many_tokens": "context_too_long",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "responsibleaipolicyviolation": "content_filter",
    "data_inspection_failed": "content_filter",
    "datainspectionfailed": "content_filter",
    "prohibited_content": "content_filter",
    "not_found_error": "not_found",
    "model_not_found": "not_found",
    "deploymentnotfound": "not_found",
    "resource_not_found_error": "not_found",
    "resourcenotfoundexception": "not_found",
    "not_found": "not_found",
    "model_not_available": "not_found",
    "model_not_supported": "not_found",
    "invalid_model": "not_found",
    "tool_use_failed": "malformed",
    "json_validate_failed": "malformed",
    "output_parse_failed": "malformed",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "request_timeout": "timeout",
    "modeltimeoutexception": "timeout",
}
"""Codes, types or statuses that decide the kind, at every provider."""

MODEL_FAULTS = frozenset({"tool_use_failed", "json_validate_failed", "output_parse_failed"})
"""The model wrote something that its server could not read (Groq). The request is valid."""

_WEAK_KIND_OF_WORD: dict[str, FailureKind] = {
    "invalid_request_error": "invalid_request",
    "invalid_request_body": "invalid_request",
    "invalid_argument": "invalid_request",
    "failed_precondition": "invalid_request",
    "validationexception": "invalid_request",
    "badrequesterror": "invalid_request",
    "invalid_prompt": "invalid_request",
    "api_error": "server",
    "server_error": "server",
    "internal_server_error": "server",
    "internalserverexception": "server",
    "internal": "server",
}
"""Codes that say little: the message is read first."""

_SENTENCES: tuple[tuple[FailureKind, str], ...] = (
    (
        "context_too_long",
        r"maximum context length|context window|prompt is too long|prompt too long|context length"
        r"|input token count .{0,40}exceeds|too many tokens|maximum number of tokens allowed"
        r"|exceeded model token limit|range of input length|input is too long|available context size"
        r"|maximum prompt length|too many input tokens|total length of all messages is too long"
        r"|exceeds the maximum (input|allowed) (length|tokens)"
        r"|tokens? .{0,30}exceeds? .{0,30}(context|limit)",
    ),
    (
        "content_filter",
        r"content management policy|content[ _]filter|content exists risk|inappropriate content"
        r"|usage policy|flagged by|flagged for|safety system|moderation|content policy",
    ),
    (
        "quota",
        r"credit balance|insufficient balance|insufficient (funds|quota|credits)|out of credits"
        r"|purchase (more )?credits|add (more )?credits|available credits|spending limit|billing"
        r"|exceeded your current quota|monthly (usage )?limit|usage limit|premium request",
    ),
    (
        "rate_limit",
        r"rate[ -]?limit|too many requests|requests per minute|tokens per minute|quota exceeded",
    ),
    (
        "auth",
        r"api[- ]key (is |was )?(not valid|invalid|incorrect|missing|expired)"
        r"|(invalid|incorrect|missing) (x-)?api[- ]key"
        r"|unauthori[sz]ed|authentication token|token (is |has )?expired|invalid (bearer|access) token"
        r"|credentials (not )?found|permission denied|not authenticated|security token",
    ),
    (
        "overloaded",
        r"overloaded|over capacity|at capacity|too busy|temporarily unavailable|server is busy",
    ),
    (
        "not_found",
        r"model .{0,80}(does not exist|not found|is not available)|no such model|model not found"
        r"|model identifier is invalid|is not found for api version|unknown model"
        r"|not a valid model id|supported api model names are",
    ),
    ("timeout", r"timed? ?out|deadline exceeded"),
)


@cache
def _kind_of_sentence() -> dict[FailureKind, re.Pattern[str]]:
    """Compiled at the first failure: it takes 3 ms, which a start without one need not pay."""
    return {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _SENTENCES}


_KIND_OF_STATUS: dict[int, FailureKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    410: "not_found",
    413: "context_too_long",
    429: "rate_limit",
    498: "overloaded",
    503: "overloaded",
    504: "timeout",
    522: "timeout",
    524: "timeout",
    529: "overloaded",
}


def kind_of(message: str, words: Iterable[str], status: int, wait: float | None = None) -> FailureKind:
    """The kind of a failure. `words` are its codes and types, `wait` the seconds that it asks to wait."""
    known = [word.lower().replace("-", "_") for word in words]
    said = next((_KIND_OF_WORD[word] for word in known if word in _KIND_OF_WORD), None)
    if said == "rate_limit" or (said is None and status == 429):
        return "quota" if _is_used_up(message, wait) else "rate_limit"
    if said is not None:
        return said
    if status in (0, 400, 404, 422) and broken_rule(message):
        return "invalid_request"
    sentence = next((kind for kind, pattern in _kind_of_sentence().items() if pattern.search(message)), None)
    if sentence is not None and _fits(sentence, status):
        return sentence
    weak = next((_WEAK_KIND_OF_WORD[word] for word in known if word in _WEAK_KIND_OF_WORD), None)
    return _KIND_OF_STATUS.get(status) or weak or _kind_of_range(status)


def _fits(kind: FailureKind, status: int) -> bool:
    """Whether a kind found in the message agrees with the status; a clear status counts more."""
    if status in (400, 422):
        return kind not in ("timeout", "overloaded")
    if status == 403:
        return kind in ("auth", "content_filter", "quota", "rate_limit")
    if status in (401, 402, 404, 408, 504, 529):
        return kind == _KIND_OF_STATUS[status]
    return status != 503 or kind in ("overloaded", "rate_limit", "timeout")


def _kind_of_range(status: int) -> FailureKind:
    if 400 <= status < 500:
        return "invalid_request"
    return "server" if status >= 500 or not status else "malformed"


_THIS_MINUTE = re.compile(r"per ?(minute|second)|\b[rt]p[ms]\b", re.IGNORECASE)
_A_DAY = re.compile(r"per ?day|daily|\b[rt]pd\b", re.IGNORECASE)


def _is_used_up(message: str, wait: float | None) -> bool:
    """Whether money or a day's quota is used up, not this minute's. Gemini says quota for both."""
    if _A_DAY.search(message):
        return True
    if _THIS_MINUTE.search(message) or (wait is not None and wait <= 3600):
        return False
    return bool(_kind_of_sentence()["quota"].search(message))
