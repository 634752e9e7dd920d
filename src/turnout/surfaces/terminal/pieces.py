"""What a conversation looks like: finished pieces, and what still moves.

A finished piece is shown once and never changes. Everything that moves (a reply under way,
tools at work, messages that wait) is one value, `Live`, shown anew whenever it changes.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Tone = Literal["plain", "dim", "good", "warn", "bad"]
Sign = Literal[" ", "+", "-", "~"]


class UserWords(Struct, frozen=True):
    """What the user said."""

    text: str


class Prose(Struct, frozen=True):
    """A part of an answer that is whole, as Markdown; `follows` when it goes on without a gap."""

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
    """A line of a change: kept, added, taken away, or a gap (`~`)."""

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


class Notice(Struct, frozen=True):
    """Something that turnout itself says."""

    text: str
    tone: Tone = "dim"


class Rows(Struct, frozen=True):
    """A small table: what a command answers."""

    rows: tuple[tuple[str, str], ...]
    title: str = ""


class ApprovalQuestion(Struct, frozen=True):
    """May this call run? Everything that one must know to answer, nothing hidden."""

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
    """A tool call under way: `state` in words, and the last of its output."""

    name: str
    subject: str
    state: str
    seconds: float = 0.0
    fraction: float | None = None
    lines: tuple[str, ...] = ()


class LiveView(Struct, frozen=True):
    """What moves at the moment."""

    busy: bool = False
    doing: str = ""  # one word or two on what is awaited
    seconds: float = 0.0
    thinking: str = ""
    tail: tuple[Prose | Listing, ...] = ()
    calls: tuple[RunningCall, ...] = ()
    queued: tuple[str, ...] = ()
