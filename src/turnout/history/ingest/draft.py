"""A conversation while it is being understood: turns and calls that may still change."""

from __future__ import annotations

from typing import Any

from ... import plain
from ...model import CONTENT, Block, Origin, Residue, Text, Thinking, ToolCall
from .heard import Heard, HeardCall, HeardNote, Speaker
from .match import Answer


class Call:
    """A call as it was heard, and the results that were reported for it."""

    def __init__(self, heard: HeardCall, turn: Draft) -> None:
        self.heard = heard
        self.turn = turn
        self.arguments, self.fault = plain.arguments(heard.arguments)
        self.answers: list[Answer] = []
        self.order = 0
        self.batch = 0
        self.id = ""  # canonical; known once the turn has its key

    @property
    def raw(self) -> str | None:
        """What the model wrote, where it is not a clean object."""
        if not self.fault:
            return None
        written = self.heard.arguments
        return written if isinstance(written, str) else plain.dumps(written)

    def block(self) -> ToolCall:
        raw_id = "" if self.heard.raw_id == self.id else self.heard.raw_id
        return ToolCall(
            self.id, self.heard.name, self.arguments, raw_id, self.raw, self.heard.residue, self.fault
        )


class Draft:
    """A turn that is about to be written."""

    def __init__(self, speaker: Speaker, origin: Origin, turn_id: str, place: int) -> None:
        self.speaker = speaker
        self.origin = origin
        self.turn_id = turn_id
        self.place = place  # among the turns
        self.pieces: list[Block | Call] = []
        self.residue: Residue | None = None

    @property
    def calls(self) -> list[Call]:
        return [piece for piece in self.pieces if isinstance(piece, Call)]

    @property
    def blocks(self) -> list[Block]:
        return [piece for piece in self.pieces if not isinstance(piece, Call)]

    @property
    def only_thinks(self) -> bool:
        return bool(self.pieces) and all(isinstance(piece, Thinking) for piece in self.pieces)


Step = Draft | HeardNote | Answer
"""What is written to the history in order: turns, notes, and results that answered no call."""


def worth_keeping(heard: Heard) -> list[Any]:
    """The items without empty texts.

    An empty text between two stretches of signed thinking keeps them apart, so it stays.
    """
    items = list(heard.items)
    kept = [item for at, item in enumerate(items) if not _is_empty(item) or _parts_thinking(items, at)]
    if heard.speaker == "model":
        return kept
    return [Text(item.text, item.residue) if isinstance(item, Thinking) else item for item in kept]


def _is_empty(item: Any) -> bool:
    return isinstance(item, Text | Thinking) and not item.text and item.residue is None


def _parts_thinking(items: list[Any], at: int) -> bool:
    around = (items[at - 1] if at else None, items[at + 1] if at + 1 < len(items) else None)
    return isinstance(items[at], Text) and all(isinstance(b, Thinking) and b.residue for b in around)


def is_said(item: Any) -> bool:
    """Whether this may stand in a tool's result: text, media and the like."""
    return isinstance(item, CONTENT)
