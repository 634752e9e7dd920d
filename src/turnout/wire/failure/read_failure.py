"""What went wrong at the provider, as one error whoever the provider is.

Every family words its failures in its own shape. They are read into the same few facts:
what it says, the words it uses for codes, how long to wait. The shape does not matter, so
it is not asked for: every object in which something may be said is looked at, also a body
quoted inside another. What is kept of a body is cut short and holds no keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ...errors import FailureKind, ProviderError
from ...plain import dumps, loads
from ..shared.redaction import redacted
from .broken_rule import broken_rule
from .kind import kind_of
from .retry_after import span, wait

EXCERPT = 2000
READ = 64 * 1024
SENTENCE = 4000
PARSED = 1024 * 1024
PASSING = ("rate_limit", "quota", "overloaded", "server", "timeout")
"""Kinds after which waiting may help."""


def failure(status: int, headers: Mapping[str, str], body: bytes, now: float = 0.0) -> ProviderError:
    """The error that an HTTP response amounts to. `now` (seconds since 1970) is for waits given as dates."""
    text = redacted(bytes(body[:READ]).decode(errors="replace"))
    told = _told(_parsed(body), text, status)
    lowered = {name.lower(): value for name, value in headers.items()}
    amazon = lowered.get("x-amzn-errortype", "").partition(":")[0]  # ValidationException:http://…
    words = (amazon, *told.words) if amazon else told.words
    return _error(told, words, status, lowered, text, now)


def stream_failure(payload: Any) -> ProviderError:
    """The error inside a stream that had begun well: a payload that holds one."""
    text = redacted(dumps(payload)[:READ])
    told = _told(payload, text, 0)
    return _error(told, told.words, told.status, {}, text, 0.0)


def undecodable(data: bytes) -> tuple[FailureKind, str]:
    """How to speak of bytes that are not JSON: none at all, a web page, cut off, or never any good."""
    shown = redacted(data[:READ].decode(errors="replace")).strip()[:200]
    if not shown:
        return "truncated", "the provider sent nothing"
    if shown.startswith("<"):
        return "malformed", f"the provider sent a web page in place of a reply: {shown}"
    if shown[0] in "{[" and data.rstrip()[-1:] not in (b"}", b"]"):
        return "truncated", f"the stream broke off in the middle of a payload: {shown}"
    return "malformed", f"the stream holds a payload that is not JSON: {shown}"


def is_failure(body: Any) -> bool:
    """Whether a body that is no reply says what went wrong, as providers or the gateways before them do."""
    if not isinstance(body, dict):
        return False
    return bool(body.get("error") or (not body.get("id") and (body.get("message") or body.get("detail"))))


def excerpt(data: bytes) -> str:
    """What is kept of a body: its beginning, without secrets."""
    return redacted(bytes(data[:READ]).decode(errors="replace"))[:EXCERPT]


class _Told(Struct, frozen=True):
    """What a failure says of itself, whatever shape it came in."""

    message: str
    words: tuple[str, ...]
    status: int
    wait: float | None
    resets: tuple[str, ...]
    limits: str


def _error(
    told: _Told, words: Sequence[str], status: int, headers: Mapping[str, str], text: str, now: float
) -> ProviderError:
    said_status = status if status >= 400 else told.status  # errors come inside a 200 too
    kind = kind_of(f"{told.message} {told.limits}", words, said_status, told.wait)
    if status and not said_status and not words:
        kind = "malformed" if text.strip() else "truncated"
    return ProviderError(
        redacted(told.message)[:EXCERPT],
        kind=kind,
        status=status or None,
        retry_after=wait(headers, told.message, told.wait, told.resets, now) if kind in PASSING else None,
        code=next((word for word in words if not word.isdigit()), next(iter(words), "")),
        rule=broken_rule(f"{told.message} {text}") if kind == "invalid_request" else "",
        body=text[:EXCERPT],
    )


# -- reading


def _parsed(body: bytes) -> Any:
    try:
        return loads(bytes(body)) if len(body) <= PARSED else None
    except (ValueError, RecursionError):
        return None


def _told(payload: Any, text: str, status: int) -> _Told:
    parts = list(_parts(payload, 0))
    message = max((said for part in parts if (said := _message(part))), key=_weight, default="")
    return _Told(
        message or _unreadable(payload, text, status),
        tuple(word for part in parts for word in _words(part)),
        next((number for part in parts if (number := _http_status(part))), 0),
        next((seconds for part in parts if (seconds := _retry_delay(part)) is not None), None),
        tuple(str(reset) for part in parts if (reset := _reset_header(part))),
        " ".join(limit for part in parts for limit in _limits(part)),
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
            return said.strip()[:SENTENCE]
    return ""


_NO_CODES = ("error", "response.failed", "failed", "incomplete")


def _words(part: dict[str, Any]) -> Iterator[str]:
    if part.get("@type"):
        if isinstance(part.get("reason"), str):
            yield part["reason"]
        return
    for name in ("code", "type", "status", "error_type"):
        word = part.get(name)
        if isinstance(word, int) and not isinstance(word, bool):
            yield str(word)
        elif isinstance(word, str) and word and word not in _NO_CODES and len(word) <= 100:
            yield word


def _http_status(part: dict[str, Any]) -> int:
    for name in ("code", "status", "status_code", "http_code", "raw_status_code"):
        number = part.get(name)
        if isinstance(number, str) and number.isdigit() and len(number) == 3:
            number = int(number)
        if isinstance(number, int) and 400 <= number <= 599:
            return number
    is_validation = isinstance(part.get("loc"), list) and "msg" in part  # as FastAPI and Mistral say it
    return 422 if is_validation else 0


def _retry_delay(part: dict[str, Any]) -> float | None:
    """Gemini: details[].retryDelay, as "34.07s"."""
    delay = part.get("retryDelay")
    return span(delay) if isinstance(delay, str) else None


def _limits(part: dict[str, Any]) -> Iterator[str]:
    """Gemini: details[].violations[].quotaId says whether it is the minute's quota or the day's."""
    violations = part.get("violations")
    for violation in violations[:20] if isinstance(violations, list) else ():
        if isinstance(violation, dict) and isinstance(violation.get("quotaId"), str):
            yield violation["quotaId"]


def _reset_header(part: dict[str, Any]) -> Any:
    """OpenRouter: metadata.headers, an epoch in milliseconds."""
    headers = part.get("headers")
    if not isinstance(headers, dict):
        return None
    return next((value for key, value in headers.items() if str(key).lower() == "x-ratelimit-reset"), None)


def _unreadable(payload: Any, text: str, status: int) -> str:
    said = " ".join(text.split())
    if not said:
        return f"the provider answered {status} and said nothing" if status else "the provider said nothing"
    if payload is None and said[:1] == "<":
        title = re.search(r"<title[^>]*>([^<]{1,200})", text, re.IGNORECASE)
        shown = f": {' '.join(title.group(1).split())}" if title else ""
        return f"the provider answered {status} with a web page{shown}"
    return said[:500]
