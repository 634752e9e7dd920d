"""The state of a log, computed a second time for the checker, independent of `state`.

Nothing here is fast or incremental. A rewind applies all entries again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ..model import (
    Compaction,
    ModelTurn,
    Note,
    Outcome,
    Rewind,
    Settled,
    Started,
    SystemTurn,
    ToolCall,
    Turn,
    UserTurn,
)

SEALED = "sealed"
TURNS = (SystemTurn, UserTurn, ModelTurn)


class RecordedCall(Struct):
    """What the log records of one call."""

    call: ToolCall
    turn_key: str
    started: bool = False
    changed_arguments: dict[str, Any] | None = None
    outcome: Outcome | None = None


class ReferenceState:
    """Takes entries; holds the current conversation."""

    def __init__(self) -> None:
        self.keys: set[str] = set()  # of every turn, also rewound ones
        self.called: set[str] = set()  # the ids of every call, also rewound ones
        self.sealed: set[str] = set()  # a turn that was sealed once stays sealed
        self.cuts = 0
        self._reset()

    def _reset(self) -> None:
        self.standing: list[Any] = []
        self.turns: list[Turn] = []
        self.ledger: dict[str, RecordedCall] = {}
        self._calls: dict[str, list[str]] = {}
        self.summary = ""
        self.shortened: dict[str, str] = {}
        self.last_key = ""

    def apply(self, entry: Any) -> None:
        if isinstance(entry, Rewind):
            self._rewind_to(entry.to_key)
            return
        self._apply_standing(entry)
        if isinstance(entry, Compaction):
            self.cuts += 1

    def _apply_standing(self, entry: Any) -> None:
        self.standing.append(entry)
        match entry:
            case SystemTurn() | UserTurn() | ModelTurn():
                self._append_turn(entry)
            case Started() if entry.call_id in self.ledger:
                self.ledger[entry.call_id].started = True
                self.ledger[entry.call_id].changed_arguments = entry.arguments
            case Settled() if entry.call_id in self.ledger:
                self.ledger[entry.call_id].outcome = entry.outcome
            case Compaction():
                self._apply_compaction(entry)
            case Note() if entry.kind == SEALED:
                self.sealed.add(self.key_sealed_by(entry))

    def _append_turn(self, turn: Turn) -> None:
        self.sealed.add(self.last_key)
        self.last_key = turn.key
        self.keys.add(turn.key)
        self.turns.append(turn)
        for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
            self.called.add(call.id)
            self.ledger[call.id] = RecordedCall(call, turn.key)
            self._calls.setdefault(turn.key, []).append(call.id)

    def _apply_compaction(self, entry: Compaction) -> None:
        self.shortened |= entry.shortened
        if not self.is_visible(entry.through_key):
            return
        keys = [turn.key for turn in self.turns]
        cut = set(keys[: keys.index(entry.through_key) + 1]) - set(entry.pinned)
        self.turns = [turn for turn in self.turns if turn.key not in cut]
        self.summary = entry.summary

    def _rewind_to(self, to_key: str) -> None:
        """The state after that turn, with the outcomes of its calls."""
        self.cuts += 1
        past = self.standing
        self._reset()
        for entry in _entries_through(past, to_key) if to_key else ():
            self._apply_standing(entry)

    def key_sealed_by(self, note: Note) -> str:
        """The key of the turn that a note seals."""
        key = note.data.get("turn") if isinstance(note.data, dict) else None
        return key if isinstance(key, str) else ""

    def is_visible(self, key: str) -> bool:
        return any(turn.key == key for turn in self.turns)

    def has_standing_turn(self, key: str) -> bool:
        """Whether no rewind has undone this turn."""
        return any(isinstance(entry, TURNS) and entry.key == key for entry in self.standing)

    def calls_of_turn(self, key: str) -> list[RecordedCall]:
        """The calls of a turn."""
        return [self.ledger[call_id] for call_id in self._calls.get(key, ())]

    @property
    def may_change(self) -> bool:
        """Whether an outcome of the last turn may still come, or be replaced by a real one."""
        if self.last_key in self.sealed:
            return False
        outcomes = [recorded.outcome for recorded in self.calls_of_turn(self.last_key)]
        return any(outcome is None or outcome.synthetic for outcome in outcomes)


def _entries_through(entries: list[Any], key: str) -> Iterator[Any]:
    reached = False
    for entry in entries:
        if reached and isinstance(entry, TURNS):
            return
        if not reached or not isinstance(entry, Compaction):
            yield entry
        reached = reached or (isinstance(entry, TURNS) and entry.key == key)
