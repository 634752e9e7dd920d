"""How long to wait before a retry, from the dozen ways in which providers say it.

Headers come first (`retry-after-ms`, `retry-after` in both its forms), then the body, then the
time at which a used-up limit resets. A time needs a clock, and the caller gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import Any

LONGEST = 7 * 24 * 3600.0

_UNITS = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)"
_PART = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNITS})(?![a-z])")
_SENTENCE = re.compile(
    rf"\b(?:try again|retry|wait)\s+(?:(?:in|after|for)\s+)?((?:\d+(?:\.\d+)?\s*{_UNITS}(?![a-z])\s*)+)",
    re.IGNORECASE,
)
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):?(\d\d))?"
)


def seconds_to_wait(
    headers: Mapping[str, str],
    message: str = "",
    said: float | None = None,
    resets: Iterable[str] = (),
    now: float = 0.0,
) -> float | None:
    """Seconds to wait, from the most direct source; None if there is none.

    Header names are lower case. `said` and `resets` come from the body.
    """
    for seconds in (
        _number(headers.get("retry-after-ms"), 0.001),
        _seconds_until(headers.get("retry-after", ""), now),
        said,
        _in_sentence(message),
        _latest_reset(headers, now),
        *(_seconds_until(reset, now) for reset in resets),
    ):
        if seconds is not None:
            return min(max(seconds, 0.0), LONGEST)
    return None


def span(text: str) -> float | None:
    """Seconds in a text like `6m0s`, `34.07s`, `120ms`, `1 minute`; None if it is not one."""
    text = text.strip().lower()
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip(" ,"):
        return None
    return sum(float(number) * _seconds(unit) for number, unit in parts)


def _seconds(unit: str) -> float:
    if unit.startswith(("ms", "milli")):
        return 0.001
    return {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}[unit[0]]


def _in_sentence(message: str) -> float | None:
    """OpenAI: "Please try again in 6m0s." Gemini: "Please retry in 34.07s." """
    found = _SENTENCE.search(message[:2000])
    return span(found.group(1)) if found else None


def _latest_reset(headers: Mapping[str, str], now: float) -> float | None:
    """When the used-up limits reset; if none is marked as used up, when all limits reset."""
    resets = [name for name in headers if "ratelimit" in name and "reset" in name]
    used_up = [name for name in resets if headers.get(name.replace("reset", "remaining")) == "0"]
    waits = [_seconds_until(headers[name], now) for name in used_up or resets]
    return max((seconds for seconds in waits if seconds is not None), default=None)


def _seconds_until(text: str, now: float) -> float | None:
    """Seconds from now to a time; the text may also be a number of seconds or a span."""
    number = _number(text, 1.0)
    if number is None:
        moment = _moment(text)
        return moment - now if moment is not None and now else span(text)
    if number < 1e8:
        return number
    moment = number / 1000 if number > 1e11 else number  # OpenRouter: milliseconds since 1970
    return moment - now if now else None


def _number(text: str | None, scale: float) -> float | None:
    try:
        number = float((text or "").strip())
    except ValueError:
        return None
    return number * scale if 0 <= number < 1e15 else None


def _moment(text: str) -> float | None:
    """Seconds since 1970 of an RFC 3339 or HTTP date."""
    found = _RFC3339.fullmatch(text.strip())
    if found is None:
        return _since_1970(parsedate_tz(text))
    *date, sign, hours, minutes = found.groups()
    offset = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1) if sign else 0
    return _since_1970((*map(int, date), 0, 0, 0, offset))


def _since_1970(parts: Any) -> float | None:
    try:
        return float(mktime_tz(parts)) if parts and parts[9] is not None else None
    except (ValueError, OverflowError, TypeError):
        return None
