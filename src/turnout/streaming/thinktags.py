"""Thinking that a model writes into its text between tags: <think>…</think>, cut anywhere.

Some servers pass a model's raw text through, with its tags. The splitter separates text from
thinking while the pieces come, and holds back only what may still become a tag. Tags inside
code are text: the model is explaining its own format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from .outside_code import OutsideCode

Kind = Literal["text", "thinking", "taken_back"]
Piece: TypeAlias = tuple[Kind, str]
"""The kind and the text. `taken_back` has no text: the text so far was thinking."""

TAKEN_BACK: Piece = ("taken_back", "")

LINE_BREAKS = "\r\n"


class ThinkTags:
    """Feed text as it comes; get it back as pieces of text and of thinking.

    Some prompt templates write the opening tag themselves (DeepSeek's does), so a reply begins
    in the middle of the thinking. `opened` is for servers known to do so. For others, a closing
    tag with something after it shows it: the text before it is taken back. A closing tag that
    ends the reply is a mistake of the model, and the text before it is the answer.
    """

    def __init__(self, tag: str = "think", *, opened: bool = False) -> None:
        self._opening, self._closing = f"<{tag}>", f"</{tag}>"
        self._tags = OutsideCode((self._opening, self._closing))
        self._thinking = opened
        self._swallows_opening = opened
        self._untagged = not opened  # no tag yet: a closing one would say what we have missed
        self._at_start = opened  # of a stretch after a tag: line breaks next to a tag belong to it
        self._begins = not opened  # nothing was said yet: line breaks may belong to a tag that follows
        self._held = ""
        self._owed = False  # a closing tag came; whether it meant anything shows in what follows
        self._blank = ""  # blanks since then

    def feed(self, text: str) -> list[Piece]:
        """The pieces that this text completes, in order."""
        return [*self._pieces(self._held + text, final=False)]

    def close(self) -> list[Piece]:
        """The text that was held back, now that no more can come."""
        pieces = [*self._pieces(self._held, final=True)]
        return [*pieces, ("text", self._blank)] if self._blank else pieces

    def settle(self) -> list[Piece]:
        """Something that is not text follows, such as a call. So a closing tag before it was meant."""
        return [*self._take_back_owed()]

    def _pieces(self, text: str, final: bool) -> Iterator[Piece]:
        self._held = ""
        at = self._start_of_reply(text, final) if self._begins else 0
        while at < len(text):
            if self._at_start and (at := _after_line_breaks(text, at)) == len(text):
                return
            if self._thinking:
                end, after = self._end_of_thinking(text, at, final)
                kind: Kind = "thinking"
            else:
                end, after = self._end_of_text(text, at, final)
                kind = "text"
            if end > at:
                self._at_start = self._swallows_opening = False
                yield from self._hand_out(kind, text[at:end])
            if after == end:
                self._held = text[end:]
                return
            yield from self._take_back_owed()
            self._owed = not self._thinking and text[end:after] == self._closing
            self._pass_tag(text[end:after])
            at = after

    def _hand_out(self, kind: Kind, piece: str) -> Iterator[Piece]:
        if self._owed and piece.isspace():
            self._blank += piece
            return
        yield from self._take_back_owed()
        yield kind, piece

    def _take_back_owed(self) -> Iterator[Piece]:
        """Take back the text before the closing tag, now that something follows it."""
        if self._owed:
            blank, self._blank, self._owed = self._blank, "", False
            yield TAKEN_BACK
            if blank:
                yield "text", blank

    def _start_of_reply(self, text: str, final: bool) -> int:
        """Where a reply begins: line breaks before an opening tag belong to the tag."""
        at = _after_line_breaks(text, 0)
        if text.startswith(self._opening, at):
            self._begins = False
            return at
        if not final and self._opening.startswith(text[at:]):
            self._held = text
            return len(text)
        self._begins = False
        return 0

    def _pass_tag(self, tag: str) -> None:
        """Note the tag: it decides whether text or thinking follows."""
        self._thinking = tag == self._opening
        self._swallows_opening = self._untagged = False
        self._at_start = True

    def _end_of_thinking(self, text: str, at: int, final: bool) -> tuple[int, int]:
        """Where this stretch of thinking ends, and where what follows its tag begins."""
        if self._swallows_opening:
            if text.startswith(self._opening, at):
                return at, at + len(self._opening)
            if not final and self._opening.startswith(text[at:]):
                return at, at
        self._swallows_opening = False
        end = text.find(self._closing, at)
        if end < 0:
            end = len(text) if final else len(text) - _length_of_begun_tag(self._closing, text)
            return end, end
        return end, end + len(self._closing)

    def _end_of_text(self, text: str, at: int, final: bool) -> tuple[int, int]:
        """The same for a stretch of text, past all tags that stand inside code."""
        return self._tags.find(text, at, final, self._counts)

    def _counts(self, tag: str, at: int) -> bool:
        return tag == self._opening or self._untagged


def _after_line_breaks(text: str, at: int) -> int:
    while at < len(text) and text[at] in LINE_BREAKS:
        at += 1
    return at


def _length_of_begun_tag(tag: str, text: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    sizes = range(min(len(tag) - 1, len(text)), 0, -1)
    return next((size for size in sizes if text.endswith(tag[:size])), 0) if "<" in text[-len(tag) :] else 0
