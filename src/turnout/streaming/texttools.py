"""Tool calls that a model writes into its text, for servers that do not take them out.

Each family of models has its own syntax: marks that open and close a region, and a reader
of the text between them. One machine serves them all. A region inside code, or one that
does not read as a call, stays text. So no text is lost and nothing runs by accident.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from . import text_syntax as read
from .outside_code import OutsideCode
from .text_syntax import Found, TextCall, TextThought

Piece: TypeAlias = str | TextCall | TextThought
"""Text as it is, a call, or thinking that leaked."""

PLAIN = ("<tool_call>", "<function=")  # marks that prose may contain: they count only at the start of a line
TRIES = 8  # closing marks that may turn out to stand inside a string


class Syntax(Struct, frozen=True):
    """How one family of models writes calls."""

    regions: dict[str, tuple[str, ...]]  # the mark that opens one: the marks that close it
    read: Callable[[str], Found]  # gets the region with its marks; None: it does not hold a call
    dropped: tuple[str, ...] = ()  # marks around the regions, without a meaning of their own
    at_start: str = ""  # a reply that begins with one of these may be a call without any mark
    ends_with_reply: bool = False  # the last region may lack the mark at its end


SECTION = ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")
SECTIONS = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>")
TURN_ENDS = ("<|eom_id|>", "<|eot_id|>")
CHANNEL_ENDS = ("<|call|>", "<|end|>", "<|return|>")

SYNTAXES: dict[str, Syntax] = {
    # Hermes, Qwen, Qwen Coder and GLM share the marks; what stands between tells them apart.
    "hermes": Syntax({"<tool_call>": ("</tool_call>",), "<function=": ("</function>",)}, read.hermes),
    "kimi": Syntax({"<|tool_call_begin|>": ("<|tool_call_end|>",)}, read.kimi, dropped=SECTION),
    "deepseek": Syntax(
        {
            "<｜tool▁call▁begin｜>": ("<｜tool▁call▁end｜>",),
            "<｜DSML｜function_calls>": ("</｜DSML｜function_calls>",),
        },
        read.deepseek,
        dropped=SECTIONS,
    ),
    "llama": Syntax(
        {"<|python_tag|>": TURN_ENDS, "<function=": ("</function>",)},
        read.llama,
        dropped=TURN_ENDS,
        at_start="{[",
        ends_with_reply=True,
    ),
    "harmony": Syntax(
        {"<|start|>": CHANNEL_ENDS, "<|channel|>": CHANNEL_ENDS},
        read.harmony,
        dropped=CHANNEL_ENDS,
        ends_with_reply=True,
    ),
}

MODELS = (
    ("*kimi*", "kimi"),
    ("*deepseek*", "deepseek"),
    ("*gpt-oss*", "harmony"),
    ("*hermes*", "hermes"),
    ("*glm*", "hermes"),
    ("*qwen*", "hermes"),
    ("*qwq*", "hermes"),
    ("*llama*", "llama"),
)


def syntax_of(model: str) -> str:
    """The name of the syntax that a model writes calls in, "" when none is known."""
    return next((name for pattern, name in MODELS if fnmatchcase(model.lower(), pattern)), "")


class TextTools:
    """Feed text as it comes; get it back as text and calls."""

    def __init__(self, syntax: str) -> None:
        self._syntax = SYNTAXES[syntax]
        self._marks = OutsideCode((*self._syntax.regions, *self._syntax.dropped))
        self._held = ""
        self._region: _Region | None = None
        self._line_begun = False  # something stands on this line already
        self._at_start = bool(self._syntax.at_start)
        self._trims = True  # the space around a call belongs to it

    def feed(self, text: str) -> list[Piece]:
        """The pieces that this text completes, in order."""
        return self._pieces(text, final=False)

    def close(self) -> list[Piece]:
        """The text that was held back, now that no more can come. Half a call is text."""
        return self._pieces("", final=True)

    def _pieces(self, text: str, final: bool) -> list[Piece]:
        text, self._held = self._held + text, ""
        pieces: list[Piece] = []
        while text or (final and self._region is not None):
            if self._region is not None:
                found, text = self._read_region(self._region, text, final)
            else:
                found, text = self._read_text(text, final)
            pieces += found
        return pieces

    def _read_text(self, text: str, final: bool) -> tuple[list[Piece], str]:
        """Text up to the next mark, and what follows the mark."""
        if self._trims and not (text := text.lstrip()):
            return [], ""
        if self._may_be_call(text):
            self._region = _Region("", TURN_ENDS)
            return [], text
        begin, end = self._marks.find(text, 0, final, self._counter(text))
        self._line_begun = not self._begins_line(text, begin)
        self._trims = self._trims and not begin
        said: list[Piece] = [text[:begin]] if begin else []
        if begin == end:
            self._held = text[end:]
            return said, ""
        if closers := self._syntax.regions.get(text[begin:end]):
            self._region = _Region(text[begin:end], closers)
        return said, text[end:]

    def _read_region(self, region: _Region, text: str, final: bool) -> tuple[list[Piece], str]:
        """The content of the region, once its end is known."""
        rest = region.feed(text)
        if rest is None and not final:
            return [], ""
        whole = rest is not None or self._syntax.ends_with_reply
        found = self._syntax.read(region.text) if whole else None
        if found is None and rest is not None and region.goes_on():
            return [], rest
        self._region = None
        self._line_begun = False
        self._trims = found is not None
        return [*found] if found is not None else [region.text], rest or ""

    def _may_be_call(self, text: str) -> bool:
        """Whether the reply begins as a call without any mark would."""
        at_start, self._at_start = self._at_start, False
        return at_start and text[0] in self._syntax.at_start

    def _counter(self, text: str) -> Callable[[str, int], bool]:
        return lambda mark, at: mark not in PLAIN or self._begins_line(text, at)

    def _begins_line(self, text: str, at: int) -> bool:
        while at and text[at - 1] != "\n":
            at -= 1
            if not text[at].isspace():
                return False
        return at > 0 or not self._line_begun


class _Region:
    """A stretch between marks, while it grows."""

    def __init__(self, begin: str, closers: tuple[str, ...]) -> None:
        self._closer = re.compile("|".join(map(re.escape, closers)))
        self._overlap = max(map(len, closers)) - 1
        self._pieces = [begin]
        self._tail = ""  # where a mark may have begun
        self._mark = ""
        self._tries = 0

    @property
    def text(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def feed(self, text: str) -> str | None:
        """The text after the mark that ends the region; None if the mark has not come yet."""
        window = self._tail + text
        found = self._closer.search(window)
        if found is None:
            self._pieces.append(text)
            self._tail = window[-self._overlap :]
            return None
        end = found.end() - len(self._tail)
        self._pieces.append(text[:end])
        self._tail, self._mark = "", found[0]
        return text[end:]

    def goes_on(self) -> bool:
        """Whether the closing mark that was found stands inside a string."""
        self._tries += 1
        return self._tries <= TRIES and read.is_cut(self.text, self._mark)
