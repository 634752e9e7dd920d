"""Find marks in a model's text while it streams, except inside code.

A mark inside a code block or a code span is a quotation. The finder counts backticks across
pieces. It also says how much of the text is clear of marks, so that its user holds back only
what may still become a mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

FENCE = 3  # so many backticks open a block of code; fewer open a span within a line


class OutsideCode:
    """Find the first of some marks. Every piece of text must be passed over once, in order."""

    def __init__(self, marks: Sequence[str]) -> None:
        self._marks = tuple(marks)
        self._pattern = re.compile("|".join(("`+", "\n", *map(re.escape, marks))))
        self._starts = frozenset(mark[0] for mark in marks)
        self._longest = max(map(len, marks))
        self._code = ""  # the backticks that opened the code we are in

    def find(
        self, text: str, at: int, final: bool, counts: Callable[[str, int], bool] | None = None
    ) -> tuple[int, int]:
        """Where the first mark from `at` on begins and ends.

        Without a mark, both are the place up to which the text is clear. Give the rest again,
        with more text after it. `final` says that no more can come. `counts` gets a mark and
        its place, and may reject it.
        """
        for found in self._pattern.finditer(text, at):
            mark = found[0]
            if mark == "\n":
                self._code = self._code if len(self._code) >= FENCE else ""
            elif mark[0] != "`":
                if not self._code and (counts is None or counts(mark, found.start())):
                    return found.span()
            elif found.end() == len(text) and not final:
                return found.start(), found.start()  # the run of backticks may go on
            else:
                self._toggle_code(mark)
        clear = len(text) if final else len(text) - self._length_of_begun_mark(text, at)
        return clear, clear

    def _toggle_code(self, backticks: str) -> None:
        if not self._code:
            self._code = backticks
        elif backticks == self._code or len(backticks) > len(self._code) >= FENCE:
            self._code = ""

    def _length_of_begun_mark(self, text: str, at: int) -> int:
        """How many characters at the end of the text may be the beginning of a mark."""
        for start in range(max(at, len(text) - self._longest + 1), len(text)):
            if text[start] in self._starts and any(mark.startswith(text[start:]) for mark in self._marks):
                return len(text) - start
        return 0
