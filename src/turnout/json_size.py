"""How large a JSON text is, found out without making values of it.

A text of four megabytes can hold two million lists, which take seconds to make and hundreds of
megabytes to keep. So a text that strangers wrote is measured first. What counts is the number
of values: a long string costs little.
"""

from __future__ import annotations

import re

LONGEST = 4 * 1024 * 1024
"""Characters of arguments that are read, unless a tool allows for more."""

KEPT = 16 * LONGEST
"""Characters of arguments that are kept as they came, for tools that allow for more."""

MOST_VALUES = 50_000
"""Values that one text may hold. To make them takes up to 30 ms, and a walk over them up to 10 ms."""

EXCERPT = 1000

SLICE = 1 << 16
STRIDE = 1000
_STRINGS = re.compile(r'"[^"]*+"?')
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_AS_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_STRIDE = re.compile(rf'(?>(?>[^"\[{{,]++|"[^"]*+"?)*+[\[{{,]){{{STRIDE}}}')
"""So many values at once: each stands behind an opening bracket or a comma, outside of strings."""


def is_heavy(text: str, longest: int = LONGEST) -> bool:
    """Whether reading a text would take too long."""
    return len(text) > longest or has_more_values(text, MOST_VALUES)


def has_more_values(text: str, limit: int) -> bool:
    """Whether a JSON text holds more than so many values, by the thousand. Stops as soon as it is known."""
    if values_at_most(text, limit) <= limit:
        return False
    text, place = _without_escapes(text), 0
    for _ in range(limit // STRIDE + 1):
        if (found := _STRIDE.match(text, place)) is None:
            return False
        place = found.end()
    return True


def values_at_most(text: str, limit: int) -> int:
    """A count that no JSON text exceeds: its brackets and commas, those in strings too.

    It ends at the limit, and may then be too small.
    """
    seen = 1
    for start in range(0, len(text), SLICE):
        seen += sum(text.count(mark, start, start + SLICE) for mark in "[{,")
        if seen > limit:
            break
    return seen


def is_deeper_text(text: str, limit: int) -> bool:
    """Whether a JSON text is nested more than so many levels deep. Of a text that is not JSON, who knows."""
    if text.count("[") + text.count("{") <= limit:
        return False
    bare = _STRINGS.sub("", _without_escapes(text)).encode("ascii", "replace")
    brackets = bare.translate(_AS_ONE_KIND, _NO_BRACKETS)
    level = 0
    while brackets and level < limit:
        brackets = brackets.replace(b"[]", b"")  # the innermost go, however many there are
        level += 1
    return bool(brackets)


def _without_escapes(text: str) -> str:
    """The same text with strings that end at the next quote."""
    return text.replace("\\\\", "").replace('\\"', "") if "\\" in text else text


def excerpt(text: str) -> str:
    """The beginning of a text that is too long to be kept, and how long it was."""
    return f"{text[:EXCERPT]}… [{len(text):,} characters in all]"
