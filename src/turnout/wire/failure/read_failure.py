"""Read the failure of any provider into one error.

Every family has its own shape for failures. All are read into the same few facts: the
message, the codes, how long to wait. The shape is not known before, so every object that may
hold one of these is read, also a body quoted inside another. What is kept of a body is
truncated, and keys are redacted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ...errors import FailureKind, ProviderError
from ...plain import dumps, loads
from ..shared.redaction import redact_keys
from .broken_rule import broken_rule
from .kind import kind_of
from .retry_after import seconds_to_wait, span

EXCERPT = 2000
READ = 64 * 1024
SENTENCE = 4000
PARSED = 1024 * 1024
PASSING = ("rate_limit", "quota", "overloaded", "server", "timeout")
"""Kinds after which waiting may help."""


def failure(status: int, headers: Mapping[str, str], body: bytes, now: float = 0.0) -> ProviderError:
    """The error of an HTTP response. `now` (seconds since 1970) is for waits given as dates."""
    text = redact_keys(bytes(body[:READ]).decode(errors="replace"))
    facts = _read_facts(_parse_body(body), text, status)
    lowered = {name.lower(): value for name, value in headers.items()}
    amazon = lowered.get("x-amzn-errortype", "").partition(":")[0]  # ValidationException:http://…
    words = (amazon, *facts.words) if amazon else facts.words
    return _error(facts, words, status, lowered, text, now)


def stream_failure(payload: Any) -> ProviderError:
    """The error in a payload of a stream."""
    text = redact_keys(dumps(payload)[:READ])
    facts = _read_facts(payload, text, 0)
    return _error(facts, facts.words, facts.status, {}, text, 0.0)


def undecodable(data: bytes) -> tuple[FailureKind, str]:
    """The kind and message for bytes that are not JSON: empty, a web page, cut off, or malformed."""
    shown = redact_keys(data[:READ].decode(errors="replace")).strip()[:200]
    if not shown:
        return "truncated", "the provider sent nothing"
    if shown.startswith("<"):
        return "malformed", f"the provider sent a web page in place of a reply: {shown}"
    if shown[0] in "{[" and data.rstrip()[-1:] not in (b"}", b"]"):
        return "truncated", f"the stream broke off in the middle of a payload: {shown}"
    return "malformed", f"the stream holds a payload that is not JSON: {shown}"


def is_failure(body: Any) -> bool:
    """Whether a body without a reply holds an error, of a provider or of a gateway."""
    if not isinstance(body, dict):
        return False
    return bool(body.get("error") or (not body.get("id") and (body.get("message") or body.get("detail"))))


def excerpt(data: bytes) -> str:
    """The beginning of a body, with keys redacted."""
    return redact_keys(bytes(data[:READ]).decode(errors="replace"))[:EXCERPT]


class _FailureFacts(Struct, frozen=True):
    """The facts of a failure, from any shape."""

    message: str
    words: tuple[str, ...]
    status: int
    wait: float | None
    resets: tuple[str, ...]
    limits: str


def _error(
    facts: _FailureFacts, words: Sequence[str], status: int, headers: Mapping[str, str], text: str, now: float
) -> ProviderError:
    said_status = status if status >= 400 else facts.status  # errors come inside a 200 too
    kind = kind_of(f"{facts.message} {facts.limits}", words, said_status, facts.wait)
    if status and not said_status and not words:
        kind = "malformed" if text.strip() else "truncated"
    return ProviderError(
        redact_keys(facts.message)[:EXCERPT],
        kind=kind,
        status=status or None,
        retry_after=seconds_to_wait(headers, facts.message, facts.wait, facts.resets, now)
        if kind in PASSING
        else None,
        code=next((word for word in words if not word.isdigit()), next(iter(words), "")),
        rule=broken_rule(f"{facts.message} {text}") if kind == "invalid_request" else "",
        body=text[:EXCERPT],
    )


# -- reading


def _parse_body(body: bytes) -> Any:
    try:
        return loads(bytes(body)) if len(body) <= PARSED else None
    except (ValueError, RecursionError):
        return None


def _read_facts(payload: Any, text: str, status: int) -> _FailureFacts:
    parts = list(_objects_in(payload, 0))
    message = max((said for part in parts if (said := _message_in(part))), key=_weight, default="")
    return _FailureFacts(
        message or _message_of_unreadable(payload, text, status),
        tuple(word for part in parts for word in _codes_in(part)),
        next((number for part in parts if (number := _http_status(part))), 0),
        next((seconds for part in parts if (seconds := _retry_delay(part)) is not None), None),
        tuple(str(reset) for part in parts if (reset := _reset_header(part))),
        " ".join(limit for part in parts for limit in _limits(part)),
    )


_VAGUE = ("provider returned error", "error", "bad request", "unknown error", "upstream error")


def _weight(message: str) -> int:
    """Gateways wrap the useful message in a vague one."""
    return 0 if message.strip(" .").lower() in _VAGUE else 1


_INSIDE = ("error", "response", "metadata", "raw", "innererror", "detail", "message", "errors", "details")


def _objects_in(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Every object that may describe the failure, outermost first."""
    if depth > 6:
        return
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _parse_body(
            value.encode("utf-8", "replace")
        )  # OpenRouter and Copilot quote the upstream body
    if isinstance(value, list):
        for item in value[:20]:
            yield from _objects_in(item, depth + 1)
    if not isinstance(value, dict):
        return
    yield value
    for name in _INSIDE:
        if isinstance(value.get(name), dict | list | str):
            yield from _objects_in(value[name], depth + 1)


def _message_in(part: dict[str, Any]) -> str:
    for name in ("message", "msg", "error", "detail", "error_message", "raw", "title"):
        said = part.get(name)
        if isinstance(said, str) and said.strip() and said.lstrip()[:1] not in ("{", "["):
            return said.strip()[:SENTENCE]
    return ""


_NO_CODES = ("error", "response.failed", "failed", "incomplete")


def _codes_in(part: dict[str, Any]) -> Iterator[str]:
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


def _message_of_unreadable(payload: Any, text: str, status: int) -> str:
    said = " ".join(text.split())
    if not said:
        return f"the provider answered {status} and said nothing" if status else "the provider said nothing"
    if payload is None and said[:1] == "<":
        title = re.search(r"<title[^>]*>([^<]{1,200})", text, re.IGNORECASE)
        shown = f": {' '.join(title.group(1).split())}" if title else ""
        return f"the provider answered {status} with a web page{shown}"
    return said[:500]
