"""The size of a JSON text, found without decoding it.

A text of four megabytes can hold two million lists, which take seconds to decode and hundreds of
megabytes of memory. So untrusted text is measured first. The number of values counts: a long
string costs little.
"""

from __future__ import annotations

import re

LONGEST = 4 * 1024 * 1024
"""The longest arguments that are read, in characters, unless a tool allows more."""

KEPT = 16 * LONGEST
"""The longest arguments that are kept as they came, for tools that allow more."""

MOST_VALUES = 50_000
"""Values that one text may hold. Decoding them takes up to 30 ms, and a walk over them up to 10 ms."""

EXCERPT = 1000

SLICE = 1 << 16
STRIDE = 1000
_STRINGS = re.compile(r'"[^"]*+"?')
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_AS_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_STRIDE = re.compile(rf'(?>(?>[^"\[{{,]++|"[^"]*+"?)*+[\[{{,]){{{STRIDE}}}')
"""Matches `STRIDE` values at once: each follows an opening bracket or a comma, outside of strings."""


def is_heavy(text: str, longest: int = LONGEST) -> bool:
    """Whether reading a text would take too long."""
    return len(text) > longest or has_more_values(text, MOST_VALUES)


def has_more_values(text: str, limit: int) -> bool:
    """Whether a JSON text holds more than `limit` values, counted by the thousand. Stops early."""
    if values_at_most(text, limit) <= limit:
        return False
    text, place = _without_escapes(text), 0
    for _ in range(limit // STRIDE + 1):
        if (found := _STRIDE.match(text, place)) is None:
            return False
        place = found.end()
    return True


def values_at_most(text: str, limit: int) -> int:
    """An upper bound of the number of values: brackets and commas, also those in strings.

    Counting stops at the limit; then the result may be too small.
    """
    seen = 1
    for start in range(0, len(text), SLICE):
        seen += sum(text.count(mark, start, start + SLICE) for mark in "[{,")
        if seen > limit:
            break
    return seen


def is_deeper_text(text: str, limit: int) -> bool:
    """Whether a JSON text is nested more than `limit` levels deep. Undefined for other text."""
    if text.count("[") + text.count("{") <= limit:
        return False
    bare = _STRINGS.sub("", _without_escapes(text)).encode("ascii", "replace")
    brackets = bare.translate(_AS_ONE_KIND, _NO_BRACKETS)
    level = 0
    while brackets and level < limit:
        brackets = brackets.replace(b"[]", b"")  # removes all innermost pairs at once
        level += 1
    return bool(brackets)


def _without_escapes(text: str) -> str:
    """The text without escapes, so that each string ends at the next quote."""
    return text.replace("\\\\", "").replace('\\"', "") if "\\" in text else text


def excerpt(text: str) -> str:
    """The beginning of a text that is too long to keep, and its length."""
    return f"{text[:EXCERPT]}… [{len(text):,} characters in all]"
