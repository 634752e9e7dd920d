"""Thinking that a model writes into its text between tags: <think>…</think>, cut anywhere.

Some servers pass a model's raw text through, tags and all. The splitter tells text from
thinking as the pieces come, and holds back only what may still turn out to be a tag.
Tags inside code are text: a model that explains its own format does not think.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

Kind = Literal["text", "thinking"]
Piece: TypeAlias = tuple[Kind, str]

FENCE = 3  # so many backticks open a block of code; fewer open a span within a line
LINE_BREAKS = "\r\n"


class ThinkTags:
    """Feed text as it comes; get it back as pieces of text and of thinking.

    `opened` is for servers whose prompt template wrote the opening tag itself (DeepSeek's
    does): the reply then begins in the middle of the thinking.
    """

    def __init__(self, tag: str = "think", *, opened: bool = False) -> None:
        self._opening, self._closing = f"<{tag}>", f"</{tag}>"
        self._in_text = re.compile(f"`+|\n|{re.escape(self._opening)}")
        self._thinking = opened
        self._swallows_opening = opened
        self._at_start = True  # of a stretch: line breaks next to a tag belong to the tag
        self._code = ""  # the backticks that opened the code we are in
        self._held = ""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that this text completes, in order."""
        return [piece for piece in self._pieces(self._held + text, final=False) if piece[1]]

    def close(self) -> list[Piece]:
        """What was held back, now that no more can come."""
        return [piece for piece in self._pieces(self._held, final=True) if piece[1]]

    def _pieces(self, text: str, final: bool) -> Iterator[Piece]:
        self._held = ""
        at = 0
        while at < len(text):
            if self._at_start and (at := _after_line_breaks(text, at)) == len(text):
                return
            if self._thinking:
                end, after = self._thought(text, at, final)
                kind: Kind = "thinking"
            else:
                end, after = self._said(text, at, final)
                kind = "text"
            if end > at:
                self._at_start = self._swallows_opening = False
                yield kind, text[at:end]
            if after == end:
                self._held = text[end:]
                return
            self._turn()
            at = after

    def _turn(self) -> None:
        """A tag was passed: from here on it is the other kind."""
        self._thinking = self._swallows_opening or not self._thinking
        self._swallows_opening = False
        self._at_start = True

    def _thought(self, text: str, at: int, final: bool) -> tuple[int, int]:
        """Where this stretch of thinking ends, and where what follows its tag begins."""
        if self._swallows_opening:
            if text.startswith(self._opening, at):
                return at, at + len(self._opening)
            if not final and self._opening.startswith(text[at:]):
                return at, at
        self._swallows_opening = False
        end = text.find(self._closing, at)
        if end < 0:
            return self._unless_tag(self._closing, text, final)
        return end, end + len(self._closing)

    def _said(self, text: str, at: int, final: bool) -> tuple[int, int]:
        """The same for a stretch of text, past all tags that stand inside code."""
        for mark in self._in_text.finditer(text, at):
            if mark[0] == self._opening:
                if not self._code:
                    return mark.span()
            elif mark.end() == len(text) and mark[0] != "\n" and not final:
                return mark.start(), mark.start()  # the run of backticks may go on
            else:
                self._mark_code(mark[0])
        return self._unless_tag(self._opening, text, final)

    def _unless_tag(self, tag: str, text: str, final: bool) -> tuple[int, int]:
        end = len(text) if final else len(text) - _beginning_of(tag, text)
        return end, end

    def _mark_code(self, mark: str) -> None:
        if mark == "\n":
            self._code = self._code if len(self._code) >= FENCE else ""
        elif not self._code:
            self._code = mark
        elif mark == self._code or len(mark) > len(self._code) >= FENCE:
            self._code = ""


def _after_line_breaks(text: str, at: int) -> int:
    while at < len(text) and text[at] in LINE_BREAKS:
        at += 1
    return at


def _beginning_of(tag: str, text: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    if "<" not in text[-len(tag) :]:
        return 0
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
