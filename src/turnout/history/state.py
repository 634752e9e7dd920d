"""What a log implies: the visible turns, the ledger, the summary in force.

A state takes entries and answers questions. Replaying the same entries gives the same state,
because each decision (a seal, a late outcome) is itself an entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from ..model import (
    Compaction,
    Entry,
    ModelTurn,
    Note,
    Rewind,
    Settled,
    Started,
    SystemTurn,
    Turn,
    UserTurn,
)
from .ledger import Ledger, ToolInteraction

SEALED = "sealed"
"""Kind of the note that closes a turn with synthetic outcomes, which a real one could replace."""


class State:
    """The current conversation."""

    def __init__(self, log: Sequence[Entry]) -> None:
        self.turns: list[Turn] = []  # visible: what compactions and rewinds left
        self.ledger = Ledger()
        self.summary = ""
        self.shortened: dict[str, str] = {}
        self.compacted = 0  # how many of the turns are older than the last compaction
        self.generation = 0  # raised whenever something already rendered may change
        # Every turn key ever used. A dict takes less than half the memory of a set.
        self.keys: dict[str, None] = {}
        self.undone_calls: set[str] = set()  # ids of calls that a rewind took out of the ledger
        self._open: ModelTurn | None = None
        self._log = log  # every entry, the one that is applied among them
        self._kept: list[Entry] = []  # the entries that the last rewind kept,
        self._since = 0  # and its position in the log

    def apply(self, entry: Entry) -> None:
        match entry:
            case Rewind(to_key):
                self._rewind_to(to_key)
            case SystemTurn() | UserTurn() | ModelTurn():
                self._append_turn(entry)
            case Started(call_id, arguments):
                self.ledger.start(call_id, arguments)
            case Settled(call_id, outcome):
                self.ledger.settle(call_id, outcome)
            case Compaction():
                self._apply_compaction(entry)
            case Note(kind, data):
                self._apply_note(kind, data)
            case _:
                assert_never(entry)

    @property
    def open_turn(self) -> ModelTurn | None:
        """The turn whose calls may still be settled: the last one, while it is not sealed."""
        return self._open

    @property
    def final(self) -> int:
        """How many of the visible turns can no longer change."""
        return len(self.turns) - (self._open is not None)

    def is_call(self, call_id: str) -> bool:
        """Whether a call ever had this id, also one that was rewound."""
        return call_id in self.ledger or call_id in self.undone_calls

    def open_calls(self) -> tuple[ToolInteraction, ...]:
        if self._open is None:
            return ()
        return tuple(item for item in self.ledger.of_turn(self._open) if item.outcome is None)

    @property
    def standing(self) -> list[Entry]:
        """The entries that no rewind has undone."""
        since = self._log[self._since :]
        return [*self._kept, *(entry for entry in since if not isinstance(entry, Rewind))]

    def seal(self) -> None:
        self._open = None

    def _apply_note(self, kind: str, data: object) -> None:
        if kind == SEALED:
            self._open = None
        if isinstance(data, dict) and isinstance(key := data.get("turn_key"), str):
            self.keys[key] = None  # the key of a discarded draft is not used again

    def _append_turn(self, turn: Turn) -> None:
        self.turns.append(turn)
        self.keys[turn.key] = None
        self._open = None
        if isinstance(turn, ModelTurn) and turn.tool_calls:
            self.ledger.open(turn)
            self._open = turn

    def _apply_compaction(self, entry: Compaction) -> None:
        if entry.through_key:
            kept = set(entry.pinned)
            cut = 1 + next(at for at, turn in enumerate(self.turns) if turn.key == entry.through_key)
            self.turns = [turn for turn in self.turns[:cut] if turn.key in kept] + self.turns[cut:]
            self.summary = entry.summary
        self.shortened = {**self.shortened, **entry.shortened}
        self.compacted = len(self.turns)
        self.generation += 1
        self._open = None

    def _rewind_to(self, to_key: str) -> None:
        """Apply the standing entries again, up to the end of turn `to_key`."""
        standing = entries_through(self.standing, to_key)
        before = self.generation
        keys, calls = self.keys, self.undone_calls | {item.call.id for item in self.ledger}
        self.__init__(self._log)  # type: ignore[misc]
        for entry in standing:
            self.apply(entry)
        self._kept, self._since = standing, len(self._log)
        self.keys |= keys
        self.undone_calls = calls
        self.generation = before + 1
        self._open = None


def entries_through(entries: Iterable[Entry], key: str) -> list[Entry]:
    """The entries up to turn `key`, with everything that belongs to that turn."""
    kept: list[Entry] = []
    reached = not key
    for entry in entries:
        if reached and isinstance(entry, SystemTurn | UserTurn | ModelTurn | Compaction):
            break
        kept.append(entry)
        reached = reached or (isinstance(entry, SystemTurn | UserTurn | ModelTurn) and entry.key == key)
    return kept
