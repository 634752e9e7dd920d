"""Splits a streamed answer into complete parts: paragraphs, lists, tables, lines of code.

Only the last part can still change, so only that is redrawn as text comes. Parts are split only
where Markdown reads both halves the same way, except in parts that grow too long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .pieces import Listing, Prose

LONGEST = 4_000
"""Characters of a part that still grows; a longer one is split at a line."""
CODE_LINES = 24
"""Lines of code that are redrawn until they are shown for good."""
LIST_LINES = 12

_FENCE = re.compile(r"( *)(`{3,}|~{3,})\s*([^\s`]*)[^`]*$")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])\s")
_MAYBE_ITEM = re.compile(r"([-*+]|\d{1,9}[.)]?)?\Z")


class Blocks:
    """Feed text as it comes; get parts as they become complete."""

    def __init__(self) -> None:
        self._lines: list[str] = []  # complete lines of the part that still grows
        self._line = ""  # the line that is not complete yet
        self._fence = ""
        self._language = ""
        self._inner_fence = ""  # the fence of code inside a list, which stays with the list
        self._follows = False  # the growing part continues one that was split
        self._blank = False  # the last line was blank, outside code

    def feed(self, text: str) -> Iterator[Prose | Listing]:
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            yield from self._take_line(line)
        if self._blank and self._line.strip() and not _MAYBE_ITEM.match(self._line):
            yield from self._flush_before(self._line)
        while len(self._line) > LONGEST and not self._fence:
            self._line, part = self._split_line(self._line)
            yield part

    def close(self) -> Iterator[Prose | Listing]:
        """The text is over: the growing part is complete."""
        rest, self._line = self._line, ""
        if rest:
            yield from self._take_line(rest)
        yield from self._flush_part()
        self.__init__()  # type: ignore[misc]

    @property
    def tail(self) -> tuple[Prose | Listing, ...]:
        """The part that still grows."""
        text = "\n".join([*self._lines, self._line] if self._line else self._lines)
        if self._fence:
            return (Listing(text, self._language, self._follows),)
        return (Prose(text, self._follows),) if text.strip() else ()

    def _take_line(self, line: str) -> Iterator[Prose | Listing]:
        if self._fence:
            yield from self._take_code_line(line)
            return
        if self._blank and line.strip():
            yield from self._flush_before(line)
        if self._opens_code(line):
            yield from self._flush_part()
            _, self._fence, self._language = _FENCE.match(line).groups()  # type: ignore[union-attr]
            return
        while len(line) > LONGEST:
            line, part = self._split_line(line)
            yield part
        self._blank = not line.strip()
        self._lines.append(line)
        if sum(map(len, self._lines)) > LONGEST:
            yield from self._flush_part(follows=True)

    def _opens_code(self, line: str) -> bool:
        """Whether a code block starts here. Code inside a list belongs to the list."""
        if self._inner_fence:
            if line.strip().startswith(self._inner_fence):
                self._inner_fence = ""
            return False
        if (found := _FENCE.match(line)) is None:
            return False
        if found[1] and self._in_list:
            self._inner_fence = found[2]
            return False
        return len(found[1]) < 4

    def _take_code_line(self, line: str) -> Iterator[Listing]:
        closing = line.strip()
        if closing.startswith(self._fence) and not closing.strip(self._fence[0]):
            yield from self._flush_code()
            self._fence = self._language = ""
            self._follows = False
            return
        self._lines.append(line)
        if len(self._lines) >= CODE_LINES:
            yield from self._flush_code()
            self._follows = True

    def _flush_code(self) -> Iterator[Listing]:
        if self._lines:
            yield Listing("\n".join(self._lines), self._language, self._follows)
        self._lines = []

    def _flush_before(self, line: str) -> Iterator[Prose | Listing]:
        """A line after a blank one starts a new part, unless it belongs to a list."""
        belongs = line.startswith(" ") or (_ITEM.match(line) and len(self._lines) <= LIST_LINES)
        if not self._inner_fence and not (self._in_list and belongs):
            yield from self._flush_part()

    @property
    def _in_list(self) -> bool:
        return bool(_ITEM.match(next((line for line in self._lines if line.strip()), "")))

    def _flush_part(self, follows: bool = False) -> Iterator[Prose | Listing]:
        if self._fence:
            yield from self._flush_code()
            return
        text = "\n".join(self._lines).strip("\n")
        if text.strip():
            yield Prose(text, self._follows)
        self._lines, self._blank, self._follows = [], False, follows
        self._inner_fence = ""

    def _split_line(self, line: str) -> tuple[str, Prose]:
        """Split a very long line at a space: a complete part, and the rest."""
        at = line.rfind(" ", 0, LONGEST)
        at = at if at > 0 else LONGEST
        part = Prose("\n".join([*self._lines, line[:at]]), self._follows)
        self._lines, self._blank, self._follows = [], False, True
        return line[at:].lstrip(" "), part
