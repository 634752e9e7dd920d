"""What a conversation looks like: finished pieces, and the live view.

A finished piece is shown once and never changes. Everything that still changes (the current reply,
running tools, queued prompts) is one value, `LiveView`, which is redrawn when it changes.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

MOST_CHANGED = 20
"""Lines of a change that are shown after it is made. The question before it shows all of them."""

Tone = Literal["plain", "dim", "good", "warn", "bad"]
Sign = Literal[" ", "+", "-", "~"]


class UserWords(Struct, frozen=True):
    """A prompt of the user."""

    text: str


class Prose(Struct, frozen=True):
    """A complete part of an answer, as Markdown; `follows` if no empty line goes before it."""

    text: str
    follows: bool = False


class Listing(Struct, frozen=True):
    """Lines of code in an answer."""

    code: str
    language: str = ""
    follows: bool = False


class FoldedThought(Struct, frozen=True):
    """What the model thought, folded to one line unless it is `open`."""

    text: str
    seconds: float = 0.0
    open: bool = False


class ChangedLine(Struct, frozen=True):
    """A line of a change: kept, added, removed, or a gap (`~`)."""

    sign: Sign
    number: int
    text: str


class FinishedCall(Struct, frozen=True):
    """A tool call that has ended."""

    name: str
    subject: str
    status: str
    seconds: float = 0.0
    lines: tuple[str, ...] = ()
    more: int = 0  # lines that are not shown
    change: tuple[ChangedLine, ...] = ()
    open: bool = False  # every line of the change is shown

    @property
    def is_folded(self) -> bool:
        """Whether lines are left out."""
        return self.more > 0 or (len(self.change) > MOST_CHANGED and not self.open)


class Notice(Struct, frozen=True):
    """A message of turnout itself."""

    text: str
    tone: Tone = "dim"
    follows: bool = False  # no empty line goes before it


class Rows(Struct, frozen=True):
    """A small table: the output of a command."""

    rows: tuple[tuple[str, str], ...]
    title: str = ""


class ApprovalQuestion(Struct, frozen=True):
    """May this call run? Everything that the user must know to answer, with nothing hidden."""

    tool: str
    risk: str
    why: str
    subject: str  # the whole command, or the path
    details: tuple[str, ...] = ()  # further arguments, line by line
    change: tuple[ChangedLine, ...] = ()
    problem: str = ""
    covers: str = ""  # what "always" would allow


Piece: TypeAlias = (
    UserWords | Prose | Listing | FoldedThought | FinishedCall | Notice | Rows | ApprovalQuestion
)


class RunningCall(Struct, frozen=True):
    """A running tool call: `state` in words, and the end of its output."""

    name: str
    subject: str
    state: str
    seconds: float = 0.0
    fraction: float | None = None
    lines: tuple[str, ...] = ()


class LiveView(Struct, frozen=True):
    """The part of the screen that still changes."""

    busy: bool = False
    doing: str = ""  # one or two words on what we wait for
    seconds: float = 0.0
    thinking: str = ""
    tail: tuple[Prose | Listing, ...] = ()
    calls: tuple[RunningCall, ...] = ()
    queued: tuple[str, ...] = ()
