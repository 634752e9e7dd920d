"""The story that a log tells, told again for the checker: plainly, and apart from the history.

Nothing here is fast or incremental. A rewind tells the story again from its beginning.
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


class Told(Struct):
    """What the log tells of one call."""

    call: ToolCall
    turn_key: str
    started: bool = False
    changed_arguments: dict[str, Any] | None = None
    outcome: Outcome | None = None


class Story:
    """Entries in, the conversation as it stands out."""

    def __init__(self) -> None:
        self.keys: set[str] = set()  # of every turn there ever was
        self.called: set[str] = set()  # of every call there ever was
        self.sealed: set[str] = set()  # what was final once stays final
        self.cuts = 0
        self._forget()

    def _forget(self) -> None:
        self.standing: list[Any] = []
        self.turns: list[Turn] = []
        self.ledger: dict[str, Told] = {}
        self._calls: dict[str, list[str]] = {}
        self.summary = ""
        self.shortened: dict[str, str] = {}
        self.last_key = ""

    def apply(self, entry: Any) -> None:
        if isinstance(entry, Rewind):
            self._rewind(entry.to_key)
            return
        self._tell(entry)
        if isinstance(entry, Compaction):
            self.cuts += 1

    def _tell(self, entry: Any) -> None:
        self.standing.append(entry)
        match entry:
            case SystemTurn() | UserTurn() | ModelTurn():
                self._append(entry)
            case Started() if entry.call_id in self.ledger:
                self.ledger[entry.call_id].started = True
                self.ledger[entry.call_id].changed_arguments = entry.arguments
            case Settled() if entry.call_id in self.ledger:
                self.ledger[entry.call_id].outcome = entry.outcome
            case Compaction():
                self._compact(entry)
            case Note() if entry.kind == SEALED:
                self.sealed.add(self.sealed_by(entry))

    def _append(self, turn: Turn) -> None:
        self.sealed.add(self.last_key)
        self.last_key = turn.key
        self.keys.add(turn.key)
        self.turns.append(turn)
        for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
            self.called.add(call.id)
            self.ledger[call.id] = Told(call, turn.key)
            self._calls.setdefault(turn.key, []).append(call.id)

    def _compact(self, entry: Compaction) -> None:
        self.shortened |= entry.shortened
        if not self.shows(entry.through_key):
            return
        keys = [turn.key for turn in self.turns]
        cut = set(keys[: keys.index(entry.through_key) + 1]) - set(entry.pinned)
        self.turns = [turn for turn in self.turns if turn.key not in cut]
        self.summary = entry.summary

    def _rewind(self, to_key: str) -> None:
        """How things stood after that turn: with what became of its calls, before anything else."""
        self.cuts += 1
        past = self.standing
        self._forget()
        for entry in _through(past, to_key) if to_key else ():
            self._tell(entry)

    def sealed_by(self, note: Note) -> str:
        """The key of the turn that a note declares final."""
        key = note.data.get("turn") if isinstance(note.data, dict) else None
        return key if isinstance(key, str) else ""

    def shows(self, key: str) -> bool:
        return any(turn.key == key for turn in self.turns)

    def knows(self, key: str) -> bool:
        """Whether the conversation, as it stands, went through this turn."""
        return any(isinstance(entry, TURNS) and entry.key == key for entry in self.standing)

    def told_of(self, key: str) -> list[Told]:
        """The calls of a turn."""
        return [self.ledger[call_id] for call_id in self._calls.get(key, ())]

    @property
    def may_change(self) -> bool:
        """Whether an outcome of the last turn may still come, or give way to a real one."""
        if self.last_key in self.sealed:
            return False
        outcomes = [told.outcome for told in self.told_of(self.last_key)]
        return any(outcome is None or outcome.synthetic for outcome in outcomes)


def _through(entries: list[Any], key: str) -> Iterator[Any]:
    reached = False
    for entry in entries:
        if reached and isinstance(entry, TURNS):
            return
        if not reached or not isinstance(entry, Compaction):
            yield entry
        reached = reached or (isinstance(entry, TURNS) and entry.key == key)
