"""What went wrong at the provider, as one kind of error whoever the provider is.

Every family words its failures in its own shape; they are read into the same few facts
(what it says, the words it uses for codes, how long to wait) and classified by those
words first, by the sentence second, by the HTTP status last: the same overload comes as
429, 503, 529, or inside a stream that began with 200. What is kept of a body is cut short
and holds no keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import Any

from msgspec import Struct

from ..errors import FailureKind, ProviderError
from ..plain import clean, loads
from .broken_rule import broken_rule

EXCERPT = 2000
READ = 64 * 1024
LONGEST_WAIT = 7 * 24 * 3600.0


def failure(status: int, headers: Mapping[str, str], body: bytes, now: float = 0.0) -> ProviderError:
    """The error that an HTTP response amounts to. `now` (seconds since 1970) is for waits given as dates."""
    text = redacted(bytes(body[:READ]).decode(errors="replace"))
    told = _told(_parsed(body), text, status)
    lowered = {key.lower(): value for key, value in headers.items()}
    told = _with_header_code(told, lowered)
    kind = _kind(told, status)
    wait = _wait(lowered, told, now) if kind in ("rate_limit", "quota", "overloaded", "server") else None
    return _error(told, kind, status, wait, text)


def stream_failure(payload: Any) -> ProviderError:
    """The error inside a stream that had begun well: a payload that holds one."""
    told = _told(payload, redacted(clean(str(payload)[:READ])), 0)
    kind = _kind(told, told.status)
    return _error(told, kind, told.status or None, _wait({}, told, 0.0), redacted(str(payload)[:READ]))


def undecodable(data: bytes) -> tuple[FailureKind, str]:
    """How to speak of a payload that is not JSON: cut off, or never any good."""
    shown = redacted(data[:READ].decode(errors="replace"))[:200]
    if data[:1] in (b"{", b"[") and data.rstrip()[-1:] not in (b"}", b"]"):
        return "truncated", f"the stream broke off in the middle of a payload: {shown}"
    return "malformed", f"the stream holds a payload that is not JSON: {shown}"


class _Told(Struct, frozen=True):
    """What a failure says of itself, whatever shape it came in."""

    message: str
    words: tuple[str, ...] = ()
    code: str = ""
    status: int = 0
    retry: float | None = None
    resets: tuple[str, ...] = ()


def _error(
    told: _Told, kind: FailureKind, status: int | None, wait: float | None, text: str
) -> ProviderError:
    message = redacted(told.message)[:EXCERPT]
    rule = broken_rule(f"{told.message} {text}") if kind == "invalid_request" else ""
    return ProviderError(
        message, kind=kind, status=status, retry_after=wait, code=told.code, rule=rule, body=text[:EXCERPT]
    )


# -- reading


def _parsed(body: bytes) -> Any:
    try:
        return loads(bytes(body))
    except (ValueError, RecursionError):
        return None


def _told(payload: Any, text: str, status: int) -> _Told:
    parts = list(_parts(payload, 0))
    message = max((said for part in parts if (said := _message(part))), key=_weight, default="")
    words = tuple(word for part in parts for word in _words(part))
    return _Told(
        message or _unreadable(payload, text, status),
        words,
        next((word for word in words if not word.isdigit()), next(iter(words), "")),
        next((number for part in parts if (number := _http_status(part))), 0),
        next((wait for part in parts if (wait := _retry_info(part)) is not None), None),
        tuple(str(reset) for part in parts if (reset := _reset_header(part))),
    )


_VAGUE = ("provider returned error", "error", "bad request", "unknown error", "upstream error")


def _weight(message: str) -> int:
    """Gateways wrap the sentence that matters in one that says nothing."""
    return 0 if message.strip(" .").lower() in _VAGUE else 1


_INSIDE = ("error", "response", "metadata", "raw", "innererror", "detail", "message", "errors", "details")


def _parts(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Every object that may say something of the failure, outermost first."""
    if depth > 6:
        return
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _parsed(value.encode("utf-8", "replace"))  # OpenRouter and Copilot quote the upstream body
    if isinstance(value, list):
        for item in value[:20]:
            yield from _parts(item, depth + 1)
    if not isinstance(value, dict):
        return
    yield value
    for name in _INSIDE:
        if isinstance(value.get(name), dict | list | str):
            yield from _parts(value[name], depth + 1)


def _message(part: dict[str, Any]) -> str:
    for name in ("message", "msg", "error", "detail", "error_message", "raw", "title"):
        said = part.get(name)
        if isinstance(said, str) and said.strip() and said.lstrip()[:1] not in ("{", "["):
            return said.strip()
    return ""


def _words(part: dict[str, Any]) -> Iterator[str]:
    if part.get("@type"):
        if isinstance(part.get("reason"), str):
            yield part["reason"]
        return
    for name in ("code", "type", "status", "error_type"):
        word = part.get(name)
        if isinstance(word, int) and not isinstance(word, bool):
            yield str(word)
        elif isinstance(word, str) and word and word not in ("error", "response.failed") and len(word) <= 100:
            yield word


def _http_status(part: dict[str, Any]) -> int:
    for name in ("code", "status", "status_code", "http_code", "raw_status_code"):
        number = part.get(name)
        if isinstance(number, str) and number.isdigit() and len(number) == 3:
            number = int(number)
        if isinstance(number, int) and 400 <= number <= 599:
            return number
    return 0


def _retry_info(part: dict[str, Any]) -> float | None:
    """Gemini: details[].retryDelay."""
    delay = part.get("retryDelay")
    return _span(delay) if isinstance(delay, str) else None


def _reset_header(part: dict[str, Any]) -> Any:
    """OpenRouter: metadata.headers, an epoch in milliseconds."""
    headers = part.get("headers")
    if not isinstance(headers, dict):
        return None
    return next((value for key, value in headers.items() if str(key).lower() == "x-ratelimit-reset"), None)


def _with_header_code(told: _Told, headers: Mapping[str, str]) -> _Told:
    """Bedrock names the error in a header: ValidationException:http://…"""
    name = headers.get("x-amzn-errortype", "").partition(":")[0]
    if not name:
        return told
    return _Told(told.message, (name, *told.words), name, told.status, told.retry, told.resets)


def _unreadable(payload: Any, text: str, status: int) -> str:
    said = " ".join(text.split())
    if not said:
        return f"the provider answered {status} and said nothing" if status else "the provider said nothing"
    if payload is None and said[:1] == "<":
        title = re.search(r"<title[^>]*>([^<]{1,200})", text, re.IGNORECASE)
        shown = f": {' '.join(title.group(1).split())}" if title else ""
        return f"the provider answered {status} with a web page{shown}"
    return said[:500]


# -- classifying

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
    "string_above_max_length_context": "context_too_long",
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
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "request_timeout": "timeout",
    "modeltimeoutexception": "timeout",
}
"""Words that say it all, as codes, types or statuses, whoever uses them."""

_WEAK_KIND_OF_WORD: dict[str, FailureKind] = {
    "invalid_request_error": "invalid_request",
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
"""Words that say little: the sentence is asked first."""

_KIND_OF_SENTENCE: tuple[tuple[FailureKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            "context_too_long",
            r"maximum context length|context window|prompt is too long|prompt too long|context length"
            r"|input token count .{0,40}exceeds|too many tokens|maximum number of tokens allowed"
            r"|exceeded model token limit|range of input length|input is too long|available context size"
            r"|maximum prompt length|too many input tokens|exceeds the maximum (input|allowed) (length|tokens)"
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
            r"api[- ]key (is |was )?(not valid|invalid|incorrect|missing|expired)|(invalid|incorrect|missing) (x-)?api[- ]key"
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
            r"|model identifier is invalid|is not found for api version|unknown model",
        ),
        ("timeout", r"timed? ?out|deadline exceeded"),
    )
)

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


def _kind(told: _Told, status: int) -> FailureKind:
    words = [word.lower().replace("-", "_") for word in told.words]
    said = next((_KIND_OF_WORD[word] for word in words if word in _KIND_OF_WORD), None)
    if said == "rate_limit" or (said is None and status == 429):
        return "quota" if _is_quota(told) else "rate_limit"
    if said is not None:
        return said
    weak = next((_WEAK_KIND_OF_WORD[word] for word in words if word in _WEAK_KIND_OF_WORD), None)
    sentence = next((kind for kind, pattern in _KIND_OF_SENTENCE if pattern.search(told.message)), None)
    if sentence is not None and _fits(sentence, status):
        return sentence
    if broken_rule(told.message) and not status >= 500:
        return "invalid_request"
    return _KIND_OF_STATUS.get(status) or weak or _kind_of_range(status)


def _fits(kind: FailureKind, status: int) -> bool:
    """A status of its own outweighs a word dropped in passing."""
    if status == 403:
        return kind in ("auth", "content_filter", "quota", "rate_limit")
    if status in (401, 402, 404, 408, 504, 529):
        return kind == _KIND_OF_STATUS[status]
    if status == 503:
        return kind in ("overloaded", "rate_limit", "timeout")
    return True


def _kind_of_range(status: int) -> FailureKind:
    if 400 <= status < 500:
        return "invalid_request"
    return "server" if status >= 500 or not status else "malformed"


_PER_DAY = re.compile(r"per ?day|daily", re.IGNORECASE)
_QUOTA = next(pattern for kind, pattern in _KIND_OF_SENTENCE if kind == "quota")


def _is_quota(told: _Told) -> bool:
    """Money or a day's allowance is gone, rather than this minute's. Gemini says quota for both."""
    if told.retry is not None and told.retry <= 3600 and not _PER_DAY.search(told.message):
        return False
    if re.search(r"per ?minute|per ?second|\brpm\b|\btpm\b", told.message, re.IGNORECASE):
        return False
    return bool(_QUOTA.search(told.message) or _PER_DAY.search(told.message))


# -- how long to wait

_SPAN_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|seconds?|m|minutes?|h|hours?|d|days?)(?![a-z])"
)
_IN_SENTENCE = re.compile(
    r"(?:try again|retry(?:ing)?|wait)\s+(?:in|after|for)?\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?|d)\s*)+)",
    re.IGNORECASE,
)
_UNIT = {"ms": 0.001, "mi": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):?(\d\d))?"
)


def _wait(headers: Mapping[str, str], told: _Told, now: float) -> float | None:
    """Seconds to wait, by whoever says so most directly."""
    for seconds in (
        _scaled(headers.get("retry-after-ms"), 0.001),
        _retry_after(headers.get("retry-after", ""), now),
        told.retry,
        _said_wait(told.message),
        _reset(headers, now),
        *(_until(reset, now) for reset in told.resets),
    ):
        if seconds is not None:
            return min(max(seconds, 0.0), LONGEST_WAIT)
    return None


def _retry_after(value: str, now: float) -> float | None:
    """Both forms: seconds, or the date when it is over."""
    if (seconds := _scaled(value, 1.0)) is not None:
        return seconds
    return _until(value, now)


def _scaled(value: str | None, scale: float) -> float | None:
    try:
        number = float((value or "").strip())
    except ValueError:
        return None
    return number * scale if 0 <= number < 1e12 else None


def _said_wait(message: str) -> float | None:
    found = _IN_SENTENCE.search(message[:EXCERPT])
    return _span(found.group(1)) if found else None


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """The limit that is used up says when it starts anew; if none says so, the latest of them."""
    resets = {key: value for key, value in headers.items() if "ratelimit" in key and "reset" in key}
    used_up = {
        key: value for key, value in resets.items() if headers.get(key.replace("reset", "remaining")) == "0"
    }
    waits = [_until(value, now) for value in (used_up or resets).values()]
    return max((wait for wait in waits if wait is not None), default=None)


def _until(value: str, now: float) -> float | None:
    """Seconds from now, for a span (6m0s), a moment (epoch, RFC 3339, HTTP date) or plain seconds."""
    value = value.strip()
    if (number := _scaled(value, 1.0)) is not None:
        if number > 1e11:
            number /= 1000
        if number < 1e8:
            return number
        return number - now if now else None
    if (span := _span(value)) is not None:
        return span
    moment = _moment(value)
    return moment - now if moment is not None and now else None


def _span(text: str) -> float | None:
    text = text.strip().lower()
    parts = _SPAN_PART.findall(text)
    if not parts or re.sub(r"[\s,]|and", "", _SPAN_PART.sub("", text)):
        return None
    return sum(float(number) * _unit(unit) for number, unit in parts)


def _unit(word: str) -> float:
    if word.startswith(("ms", "milli")):
        return 0.001
    return {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}[word[0]]


def _moment(text: str) -> float | None:
    if found := _RFC3339.fullmatch(text):
        *date, sign, hours, minutes = found.groups()
        offset = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1) if sign else 0
        return _mktime((*map(int, date), 0, 0, 0, offset))
    return _mktime(parsedate_tz(text))


def _mktime(parts: Any) -> float | None:
    try:
        return float(mktime_tz(parts)) if parts and parts[9] is not None else None
    except (ValueError, OverflowError, TypeError):
        return None


# -- what may be kept

_SECRETS = re.compile(
    r"""
    (?P<keep>\bbearer\s+|\bbasic\s+|key\ provided:\s*|[?&](?:key|api_key|token|sig|signature)=
        |["']?\b(?:x-)?(?:api[-_]?key|authorization|access[-_]token|refresh[-_]token|client[-_]secret|secret|password)\b
         ["']?\s*[:=]\s*["']?(?:bearer\s+|basic\s+)?)
    (?P<secret>[^\s"'&,;<>}\]]+)
    |\b(?:sk|pk|rk|xai|gsk|nvapi|tvly|key|r8|hf|pplx|fw|csk|co|or)[-_][A-Za-z0-9_-]{16,}
    |\bAIza[0-9A-Za-z_-]{20,}
    |\bya29\.[0-9A-Za-z_.-]{10,}
    |\bgh[opusr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}
    |\b(?:AKIA|ASIA)[0-9A-Z]{12,}
    |\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def redacted(text: str) -> str:
    """The text without keys and tokens, as far as they can be told by their looks."""
    return _SECRETS.sub(lambda found: (found["keep"] or "") + "[redacted]", text)
