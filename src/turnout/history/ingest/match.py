"""A conversation while it is being read: drafts of turns and calls, and which result answers which call.

Raw ids repeat, are empty, or are missing, so an id alone does not name a call. A result goes to
the nearest call before it that still waits under that id; failing that, to a call that
comes later; and only then is it matched by its name and place. Spaces around an id count
only where they tell two calls apart: proxies add and strip them on one side. Every look-up
is a stack of groups whose answered calls are passed once, so the whole matching is linear.
"""

from __future__ import annotations

from typing import Any

from ... import plain
from ...model import CONTENT, Block, Origin, Residue, Text, Thinking, ToolCall
from .message_parts import Heard, HeardCall, HeardNote, HeardResult, Speaker

RANK = {"complete": 0, "error": 1, "denied": 1, "cancelled": 2, "interrupted": 2}
SYNTHETIC = 3


class ReportedResult:
    """A result, its order among all calls and results, and its position."""

    def __init__(self, heard: HeardResult, order: int, place: int, batch: int) -> None:
        self.heard = heard
        self.order = order
        self.place = place  # how many turns were before it
        self.batch = batch  # the number of the batch of calls that were open there
        self.raw_id = heard.raw_id.strip()

    @property
    def rank(self) -> tuple[int, int]:
        """The order of several results: success, error, then the rest; the earlier wins ties."""
        outcome = self.heard.outcome
        return (SYNTHETIC if outcome.synthetic else RANK[outcome.status], self.order)


class CallDraft:
    """A call as it was read, and the results that were reported for it."""

    def __init__(self, heard: HeardCall, turn: TurnDraft) -> None:
        self.heard = heard
        self.turn = turn
        self.arguments, self.fault = plain.arguments(heard.arguments)
        self.answers: list[ReportedResult] = []
        self.order = 0
        self.batch = 0
        self.id = ""  # canonical; known once the turn has its key

    @property
    def raw(self) -> str | None:
        """The arguments as the model wrote them, where they are not a clean object."""
        if not self.fault:
            return None
        written = self.heard.arguments
        return written if isinstance(written, str) else plain.dumps(written)

    def block(self) -> ToolCall:
        raw_id = "" if self.heard.raw_id == self.id else self.heard.raw_id
        return ToolCall(
            self.id, self.heard.name, self.arguments, raw_id, self.raw, self.heard.residue, self.fault
        )


class TurnDraft:
    """A turn that is about to be written."""

    def __init__(self, speaker: Speaker, origin: Origin, turn_id: str, place: int) -> None:
        self.speaker = speaker
        self.origin = origin
        self.turn_id = turn_id
        self.place = place  # among the turns
        self.pieces: list[Block | CallDraft] = []
        self.residue: Residue | None = None

    @property
    def calls(self) -> list[CallDraft]:
        return [piece for piece in self.pieces if isinstance(piece, CallDraft)]

    @property
    def blocks(self) -> list[Block]:
        return [piece for piece in self.pieces if not isinstance(piece, CallDraft)]

    @property
    def only_thinks(self) -> bool:
        return bool(self.pieces) and all(isinstance(piece, Thinking) for piece in self.pieces)


Step = TurnDraft | HeardNote | ReportedResult
"""What is written to the history in order: turns, notes, and results that answered no call."""


def items_worth_keeping(heard: Heard) -> list[Any]:
    """The items without empty texts.

    An empty text between two stretches of signed thinking keeps them apart, so it stays.
    """
    items = list(heard.items)
    kept = [item for at, item in enumerate(items) if not is_empty(item) or _separates_thinking(items, at)]
    if heard.speaker == "model":
        return kept
    return [Text(item.text, item.residue) if isinstance(item, Thinking) else item for item in kept]


def is_empty(item: Any) -> bool:
    return isinstance(item, Text | Thinking) and not item.text and item.residue is None


def _separates_thinking(items: list[Any], at: int) -> bool:
    around = (items[at - 1] if at else None, items[at + 1] if at + 1 < len(items) else None)
    return isinstance(items[at], Text) and all(isinstance(b, Thinking) and b.residue for b in around)


def is_content(item: Any) -> bool:
    """Whether this may stand in a tool's result: text, media and the like."""
    return isinstance(item, CONTENT)


# Which result answers which call


class CallGroup:
    """Calls in order; results go to the first that has none."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.calls: list[CallDraft] = []
        self._passed = 0

    def first_open_call(self) -> CallDraft | None:
        while self._passed < len(self.calls):
            if not (call := self.calls[self._passed]).answers:
                return call
            self._passed += 1
        return None


class CallShelf:
    """Groups of calls under each key; the nearest group with an open call is on top."""

    def __init__(self) -> None:
        self._stacks: dict[str, list[CallGroup]] = {}

    def add(self, key: str, call: CallDraft, mark: int) -> None:
        stack = self._stacks.setdefault(key, [])
        if not stack or stack[-1].mark != mark:
            stack.append(CallGroup(mark))
        stack[-1].calls.append(call)

    def nearest_open_call(self, key: str) -> CallDraft | None:
        stack = self._stacks.get(key, [])
        while stack:
            if (call := stack[-1].first_open_call()) is not None:
                return call
            stack.pop()
        return None


class ResultMatcher:
    """Takes calls and results in the order of the messages."""

    def __init__(self) -> None:
        self.orphans: list[ReportedResult] = []
        self._waiting: list[ReportedResult] = []  # results since the last call
        self._unmatched: list[ReportedResult] = []
        self._order = 0
        self._batch = 0
        self._spoken = False  # whether the user or a tool spoke since the last call
        self._near_ids, self._near_names, self._near_any = CallShelf(), CallShelf(), CallShelf()
        self._near_spellings = CallShelf()  # ids with the spaces around them
        self._all_ids: dict[str, CallGroup] = {}
        self._all_names: dict[str, CallGroup] = {}
        self._batches: dict[tuple[int, str | None], CallGroup] = {}  # by name; under None those without an id
        self._last_of_id: dict[str, CallDraft] = {}
        self._last_of_name: dict[str, CallDraft] = {}

    def earlier_twin_of(self, heard: HeardCall, arguments: object) -> CallDraft | None:
        """The call that this one repeats: same id, name and arguments, and no result between."""
        before = self._last_of_id.get(heard.raw_id.strip()) if heard.raw_id else None
        if before is None or before.answers:
            return None
        same = before.heard.name == heard.name and before.arguments == arguments
        return before if same else None

    def has_id(self, raw_id: str) -> bool:
        return raw_id.strip() in self._last_of_id

    def add_call(self, call: CallDraft, turn: int) -> None:
        if self._spoken:
            self._batch += 1
            self._spoken = False
        self._order += 1
        call.order, call.batch = self._order, self._batch
        raw_id, name = call.heard.raw_id.strip(), call.heard.name
        if raw_id:
            self._near_spellings.add(call.heard.raw_id, call, turn)
            self._near_ids.add(raw_id, call, turn)
            self._all_ids.setdefault(raw_id, CallGroup(0)).calls.append(call)
            self._last_of_id[raw_id] = call
        self._near_names.add(name, call, self._batch)
        self._near_any.add("", call, self._batch)
        self._all_names.setdefault(name, CallGroup(0)).calls.append(call)
        self._batches.setdefault((self._batch, name), CallGroup(0)).calls.append(call)
        if not raw_id:
            self._batches.setdefault((self._batch, None), CallGroup(0)).calls.append(call)
        self._last_of_name[name] = call

    def start_new_batch(self) -> None:
        """The user or the system spoke: calls that follow are another batch."""
        self._spoken = True

    def add_result(self, heard: HeardResult, place: int) -> None:
        self._order += 1
        self._spoken = True
        self._waiting.append(ReportedResult(heard, self._order, place, self._batch))

    def match_reported(self) -> None:
        """Match the results so far; those with ids first, so that a result without id takes what is left."""
        for answer in self._waiting:
            if answer.raw_id:
                self._assign_result(self._call_by_id(answer), answer)
        for answer in self._waiting:
            if not answer.raw_id:
                self._assign_result(self._call_by_name(answer), answer)
        self._waiting.clear()

    def close(self, *, trust_ids: bool) -> None:
        """Match results that came before their call or with an id that no call has; the rest are orphans.

        With `trust_ids` an id that no call has here is one that a call has elsewhere.
        """
        self.match_reported()
        for answer in self._unmatched:
            call = self._call_made_later(answer) or (None if trust_ids else self._call_by_place(answer))
            (self.orphans if call is None else call.answers).append(answer)

    def _assign_result(self, call: CallDraft | None, answer: ReportedResult) -> None:
        (self._unmatched if call is None else call.answers).append(answer)

    def _call_by_id(self, answer: ReportedResult) -> CallDraft | None:
        return (
            self._near_spellings.nearest_open_call(answer.heard.raw_id)
            or self._near_ids.nearest_open_call(answer.raw_id)
            or self._last_of_id.get(answer.raw_id)
        )

    def _call_by_name(self, answer: ReportedResult) -> CallDraft | None:
        name = answer.heard.name
        if not name:
            return self._near_any.nearest_open_call("")
        if (call := self._near_names.nearest_open_call(name)) is not None:
            return call
        if (call := self._near_any.nearest_open_call("")) is not None and call.batch == answer.batch:
            return call
        again = self._last_of_name.get(name)
        return again if again is not None and again.batch == answer.batch else None

    def _call_made_later(self, answer: ReportedResult) -> CallDraft | None:
        """A call that comes after its result."""
        raw_id, name = answer.raw_id, answer.heard.name
        group = self._all_ids.get(raw_id) if raw_id else self._all_names.get(name)
        if group is None or not (raw_id or name):
            return None
        return group.first_open_call() or (group.calls[0] if raw_id else None)

    def _call_by_place(self, answer: ReportedResult) -> CallDraft | None:
        """A call that was open at the position of the result, of the same name or without an id."""
        name = answer.heard.name
        for key in (name, None) if name else (None,):
            group = self._batches.get((answer.batch, key))
            call = group.first_open_call() if group is not None and answer.raw_id else None
            if call is not None and (not name or call.heard.name == name):
                return call
        return None


def code_of_position(call: CallDraft, answer: ReportedResult, turn: TurnDraft) -> str:
    """The diagnostic code for the position of a result; "" when it is right."""
    if answer.order < call.order:
        return "early_result"
    return "misplaced_result" if answer.place > turn.place + 1 else ""
