"""The conversation as an append-only log, and the ledger of tool interactions it implies.

One rule makes rendering simple: only the last turn may be open. Appending a turn seals
the one before it, so every earlier call already has its outcome on record. This is the
only write path: a write that breaks a rule raises `UsageError` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, TypeVar

from msgspec.structs import replace

from .. import ids
from ..declarations import specs_of
from ..diagnostic import Diagnostic
from ..errors import UsageError
from ..model import (
    Block,
    Compaction,
    Entry,
    ModelTurn,
    Note,
    Origin,
    Outcome,
    Residue,
    Rewind,
    Settled,
    Started,
    Stop,
    SystemTurn,
    Thinking,
    ToolCall,
    Turn,
    Usage,
    UserTurn,
    blocks_of,
    bounded_residue,
    clean_block,
    with_fields,
)
from ..plain import clean_text, plain
from .ledger import Ledger, ToolInteraction, is_real
from .state import SEALED, State, entries_through

T = TypeVar("T")

KEPT_VIEWS = 8
"""How many targets' renderings a history keeps, so that a switch back renders only the new turns."""


class History:
    """One conversation: an append-only log and what follows from it.

    `key` names the conversation; turn keys begin with it. `writer` is called with each entry
    before it takes effect: a store that cannot write raises there, and nothing has changed.
    """

    def __init__(
        self,
        key: str = "history",
        *,
        system: str = "",
        tools: Iterable[Any] = (),
        writer: Callable[[Entry], None] | None = None,
    ) -> None:
        if not key or "|" in key:
            raise UsageError(
                f"{key!r} cannot be the key of a history; use a text without '|' that is not empty"
            )
        self.key = key
        self.system = clean_text(system)
        self.tools = specs_of(tools)
        self.writer = writer
        self.entries: list[Entry] = []
        self.diagnostics: list[Diagnostic] = []
        self.scheduled = (
            False  # whether our scheduler runs the calls, so that "not started" means "did not run"
        )
        self.source: Any = None  # the messages that `ingest` read it from, so that it can read more
        self._state = State(self.entries)
        self._next = 1
        self._views: dict[Hashable, Any] = {}

    @classmethod
    def replay(
        cls,
        entries: Iterable[Any],
        key: str = "history",
        *,
        read: Callable[[History, Any], Entry] | None = None,
        **header: Any,
    ) -> History:
        """The history that a log describes. Nothing is written.

        `read` makes an entry of what the log holds, with the history as it was before that entry:
        it can see whether the entry fits.
        """
        history = cls(key, **header)
        for entry in entries:
            history._apply_entry(entry if read is None else read(history, entry))
        return history

    # What it holds

    @property
    def turns(self) -> Sequence[Turn]:
        """The turns a reader sees: what compactions and rewinds left."""
        return self._state.turns

    @property
    def ledger(self) -> Ledger:
        """Every tool call of the conversation with its outcome."""
        return self._state.ledger

    @property
    def summary(self) -> str:
        """What stands in place of the turns that were compacted; empty if none were."""
        return self._state.summary

    @property
    def shortened_results(self) -> Mapping[str, str]:
        """Call id -> the short form of a result that was cut to make room."""
        return self._state.shortened

    @property
    def compacted_count(self) -> int:
        """How many of `turns` are older than the last compaction."""
        return self._state.compacted

    @property
    def generation(self) -> int:
        """Raised by compaction and rewind: transcripts start over."""
        return self._state.generation

    @property
    def final(self) -> int:
        """How many of `turns` can no longer change."""
        return self._state.final

    @property
    def open_turn(self) -> ModelTurn | None:
        """The last turn, while calls of it have no outcome."""
        return self._state.open_turn

    @property
    def open_calls(self) -> tuple[ToolInteraction, ...]:
        """The calls that have no outcome yet."""
        return self._state.open_calls()

    def interaction(self, call_id: str) -> ToolInteraction:
        """One call with its outcome, by its id."""
        if (found := self._state.ledger.get(call_id)) is None:
            raise UsageError(f"call {call_id} is not in this history; use an id of history.ledger")
        return found

    @property
    def standing(self) -> list[Entry]:
        """The entries that no rewind has undone, also those before a compaction."""
        return self._state.standing

    def knows_key(self, key: str) -> bool:
        """Whether a turn ever had this key, also one that was rewound."""
        return key in self._state.keys

    def knows_call(self, call_id: str) -> bool:
        """Whether a call ever had this id, also one that was rewound."""
        return self._state.is_call(call_id)

    def fits(self, entry: Entry) -> bool:
        """Whether an entry can follow: the call or turn that it names is there."""
        match entry:
            case Started(call_id) | Settled(call_id):
                return call_id in self.ledger
            case Compaction(through_key) if through_key:
                return any(turn.key == through_key for turn in self.turns)
        return True

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was noted beside the turns."""
        return tuple(entry for entry in self.entries if isinstance(entry, Note))

    # Writing

    def next_key(self) -> str:
        """A new key for the next turn. No key is given twice."""
        while self.knows_key(key := f"{self.key}.{self._next}"):
            self._next += 1
        self._next += 1
        return key

    def user(self, content: str | Block | Iterable[str | Block]) -> UserTurn:
        """Append a turn of the user."""
        return self.append(UserTurn(self.next_key(), blocks_of(content)))

    def note_system(self, content: str | Block | Iterable[str | Block]) -> SystemTurn:
        """Append system or developer text in the middle of a conversation."""
        return self.append(SystemTurn(self.next_key(), blocks_of(content)))

    def reply(
        self,
        origin: str | Origin,
        blocks: str | Block | Iterable[str | Block],
        *,
        stop: Stop | None = None,
        usage: Usage | None = None,
        residue: Residue | None = None,
    ) -> ModelTurn:
        """Append a reply of a model. Calls may have ids of the provider; they become canonical."""
        origin, key = Origin.parse(origin), self.next_key()
        named = tuple(
            _with_canonical_id(block, origin, key, at) for at, block in _with_call_numbers(blocks_of(blocks))
        )
        calls = any(isinstance(block, ToolCall) for block in named)
        stop = stop or ("tool_calls" if calls else "end")
        return self.append(ModelTurn(key, origin, named, residue, stop, usage=usage))

    def append(self, turn: T) -> T:
        """Append a whole turn. The turn before it is sealed first."""
        checked = self._check_turn(turn)
        self._settle_pending()
        self._write_entry(checked)
        return checked  # type: ignore[return-value]

    def start(self, call_id: str, arguments: Mapping[str, Any] | None = None) -> None:
        """Record that a tool is about to run. Raises when the call has its outcome or was started."""
        interaction = self.interaction(call_id)
        if interaction.outcome is not None:
            raise UsageError(f"call {call_id} is settled ({interaction.status}); run only open calls")
        if interaction.started:
            raise UsageError(f"call {call_id} was started already; a call runs once")
        self._write_entry(Started(call_id, None if arguments is None else plain(arguments)))

    def settle(self, call_id: str, outcome: Outcome) -> bool:
        """Give a call its outcome; True if it took effect.

        The first real outcome wins; a real one replaces a synthetic one while the turn is
        open. Any later outcome is kept as a note and changes nothing.
        """
        if not self.knows_call(call_id):
            raise UsageError(f"call {call_id} is not in this history; settle only calls that were appended")
        open_turn, current = self._state.open_turn, self._state.ledger.get(call_id)
        if current is None or open_turn is None or current.turn_key != open_turn.key:
            return self._record_late_outcome("late_outcome", call_id, outcome)
        if current.outcome is not None and (is_real(current.outcome) or not is_real(outcome)):
            return self._record_late_outcome("repeated_outcome", call_id, outcome)
        if current.outcome is not None:
            self._diagnose("replaced_outcome", call_id, f"{current.status} gave way to {outcome.status}")
        self._write_entry(Settled(call_id, outcome))
        return True

    def result(self, call_id: str, value: str | Outcome | BaseException | Any) -> bool:
        """Give a call its result: text, blocks, a JSON value, an outcome, or the exception that it raised.

        For programs with their own loop: `call_id` may be the provider's own id of a call of the last
        turn. True if it took effect, as with `settle`.
        """
        return self.settle(self._canonical_call_id(call_id), _outcome_of_value(value))

    def _canonical_call_id(self, call_id: str) -> str:
        """The id of a call here, by that id or by the id that its provider gave it."""
        if self.knows_call(call_id):
            return call_id
        turns = [turn for turn in reversed(self.turns) if isinstance(turn, ModelTurn)]
        calls = [call for turn in turns for call in turn.tool_calls if call.raw_id == call_id]
        open_calls = {item.call.id for item in self.open_calls}
        return next((call.id for call in calls if call.id in open_calls), calls[0].id if calls else call_id)

    def seal(self) -> None:
        """Close the open turn: calls still pending are settled as interrupted."""
        turn = self._state.open_turn
        if turn is None:
            return
        self._settle_pending()
        if any(not is_real(item.outcome) for item in self.ledger.of_turn(turn) if item.outcome):
            self._write_entry(Note(SEALED, {"turn": turn.key}))
        self._state.seal()

    def interruption(self, interaction: ToolInteraction) -> Outcome:
        """The outcome of a call that never got one."""
        if interaction.started:
            return Outcome("interrupted", synthetic=True, reason="stopped")
        reason = "did_not_run" if self.scheduled else "unknown"
        return Outcome("interrupted", synthetic=True, reason=reason)

    def compact(
        self,
        through_key: str = "",
        summary: str = "",
        *,
        shortened: Mapping[str, str] | None = None,
        pinned: Iterable[str] = (),
    ) -> None:
        """Replace the turns through `through_key` by a summary; shorten single results."""
        short = {call_id: clean_text(text) for call_id, text in (shortened or {}).items()}
        entry = Compaction(through_key, clean_text(summary), short, tuple(pinned))
        self._check_compaction(entry)
        self.seal()
        self._write_entry(entry)

    def rewind(self, to_key: str = "") -> None:
        """Return to the state after turn `to_key`; the log keeps everything."""
        standing = {turn.key for turn in self.standing if isinstance(turn, _TURNS)}
        if to_key and to_key not in standing:
            raise UsageError(
                f"turn {to_key} is not in this history, or was rewound; use one of history.turns"
            )
        self.seal()
        self._write_entry(Rewind(to_key))

    def note(self, kind: str, data: Any = None) -> None:
        """Keep data that models never read."""
        self._write_entry(Note(kind, plain(data)))

    def commit(self) -> None:
        """Make everything written so far durable, where the writer delays it until this call."""
        if (commit := getattr(self.writer, "commit", None)) is not None:
            commit()

    def fork(self, key: str, at: str | None = None) -> History:
        """A separate history with the same entries up to turn `at` (or all of them)."""
        if key == self.key:
            raise UsageError(f"{key!r} is the key of the parent; give the fork another key")
        standing = self.standing
        if at is not None and at not in {turn.key for turn in standing if isinstance(turn, _TURNS)}:
            raise UsageError(f"turn {at} is not in this history, or was rewound; use one of history.turns")
        child = History.replay(
            standing if at is None else entries_through(standing, at),
            key,
            system=self.system,
            tools=self.tools,
        )
        child.diagnostics = list(self.diagnostics)
        child.seal()
        return child

    # Views: what higher layers cache with a history

    def view(self, name: Hashable, make: Callable[[], T]) -> T:
        """The view of that name, made on first use; the least recently used ones are dropped."""
        view = self._views.pop(name, None)
        if view is None:
            view = make()
            while len(self._views) >= KEPT_VIEWS:
                self._views.pop(next(iter(self._views)))
        self._views[name] = view
        return view  # type: ignore[no-any-return]

    # How entries are checked and written

    def _settle_pending(self) -> None:
        for pending in self._state.open_calls():
            self._diagnose("sealed_open_call", pending.call.id)
            self._write_entry(Settled(pending.call.id, self.interruption(pending)))

    def _write_entry(self, entry: Entry) -> None:
        if self.writer is not None:
            self.writer(entry)
        self._apply_entry(entry)

    def _apply_entry(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._state.apply(entry)
        if isinstance(entry, Started):
            self.scheduled = True

    def _record_late_outcome(self, code: str, call_id: str, outcome: Outcome) -> bool:
        current = self._state.ledger.get(call_id)
        self._diagnose(code, call_id, f"{outcome.status} after {current.status if current else 'rewind'}")
        if current is None or current.outcome != outcome:
            self._write_entry(Note(code, {"call_id": call_id, "outcome": plain(outcome)}))
        return False

    def _diagnose(self, code: str, call_id: str = "", detail: str = "") -> None:
        self.diagnostics.append(Diagnostic("history", code, call_id, detail))

    def _check_turn(self, given: Any) -> Turn:
        turn: Turn = given
        if not isinstance(turn, _TURNS):
            raise UsageError(f"{type(turn).__name__} is not a turn; append SystemTurn, UserTurn or ModelTurn")
        if not turn.key or "|" in turn.key:
            raise UsageError(f"{turn.key!r} cannot be a turn key; use history.next_key()")
        if self.knows_key(turn.key):
            raise UsageError(f"turn key {turn.key} is in use; use history.next_key()")
        blocks = tuple(clean_block(block) for block in blocks_of(turn.blocks))
        if isinstance(turn, ModelTurn):
            self._check_calls([block for block in blocks if isinstance(block, ToolCall)])
        elif misplaced := [block for block in blocks if isinstance(block, ToolCall | Thinking)]:
            kind = type(misplaced[0]).__name__
            raise UsageError(
                f"a {kind} cannot be in a {type(turn).__name__}; put calls and thinking in a ModelTurn"
            )
        # Nearly every turn is clean. Then the object itself is kept, not a copy.
        if not (isinstance(turn.blocks, tuple) and all(map(is_, blocks, turn.blocks))):
            turn = replace(turn, blocks=blocks)
        if isinstance(turn, ModelTurn) and (residue := bounded_residue(turn.residue)) is not turn.residue:
            turn = replace(turn, residue=residue)
        return turn

    def _check_calls(self, calls: Sequence[ToolCall]) -> None:
        seen: set[str] = set()
        for call in calls:
            if not ids.is_canonical(call.id):
                raise UsageError(f"call id {call.id!r} is not canonical; history.reply() makes it so")
            if call.id in seen or self.knows_call(call.id):
                raise UsageError(f"call {call.id} is already in the history; ingest() resolves repeated ids")
            seen.add(call.id)

    def _check_compaction(self, entry: Compaction) -> None:
        keys = [turn.key for turn in self.turns]
        if not entry.through_key and not entry.shortened:
            raise UsageError(
                "there is nothing to compact; give a turn to compact through, or results to shorten"
            )
        if entry.through_key and entry.through_key not in keys:
            raise UsageError(f"turn {entry.through_key} is not visible; compact through one of history.turns")
        covered = keys[: keys.index(entry.through_key) + 1] if entry.through_key else []
        if outside := [key for key in entry.pinned if key not in covered]:
            raise UsageError(f"turn {outside[0]} is not compacted; pin only turns up to through_key")
        if unknown := [call_id for call_id in entry.shortened if call_id not in self.ledger]:
            raise UsageError(f"call {unknown[0]} is not in this history; shorten results of history.ledger")


_TURNS = (SystemTurn, UserTurn, ModelTurn)


def _outcome_of_value(value: Any) -> Outcome:
    if isinstance(value, Outcome):
        return value
    if isinstance(value, BaseException):
        name, message = type(value).__name__, str(value)
        return Outcome("error", f"{name}: {message}" if message else name)
    return Outcome("complete", value)


def _with_call_numbers(blocks: Iterable[Block]) -> Iterable[tuple[int, Block]]:
    """Each block with the number of calls before it."""
    calls = 0
    for block in blocks:
        yield calls, block
        calls += isinstance(block, ToolCall)


def _with_canonical_id(block: Block, origin: Origin, turn_key: str, index: int) -> Block:
    if not isinstance(block, ToolCall) or ids.is_canonical(block.id):
        return block
    raw_id = block.raw_id or block.id
    canonical = ids.call_id(origin.provider, raw_id, block.name, turn_key, index)
    return with_fields(block, id=canonical, raw_id=raw_id)
