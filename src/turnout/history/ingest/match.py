"""Which result answers which call: by id, then by name and position, each in one walk.

Raw ids repeat, are empty, or are missing, so an id alone names nobody. A result goes to
the nearest call before it that still waits under that id; failing that, to a call that
comes later; and only then is it judged by its name and place. Spaces around an id count
only where they tell two calls apart: proxies add and strip them on one side. Every look-up
is a stack of groups whose answered calls are passed once, so the whole matching is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .heard import HeardCall, HeardResult

if TYPE_CHECKING:
    from .draft import Call, Draft

RANK = {"complete": 0, "error": 1, "denied": 1, "cancelled": 2, "interrupted": 2}
SYNTHETIC = 3


class Answer:
    """A result, when it was heard and where it stood."""

    def __init__(self, heard: HeardResult, order: int, place: int, batch: int) -> None:
        self.heard = heard
        self.order = order
        self.place = place  # how many turns stood before it
        self.batch = batch  # the calls that were open there
        self.raw_id = heard.raw_id.strip()

    @property
    def standing(self) -> tuple[int, int]:
        """What decides between several: success, error, then the rest; the earlier wins ties."""
        outcome = self.heard.outcome
        return (SYNTHETIC if outcome.synthetic else RANK[outcome.status], self.order)


class Group:
    """Calls in order, of which the first that waits is wanted."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.calls: list[Call] = []
        self._passed = 0

    def waiting(self) -> Call | None:
        while self._passed < len(self.calls):
            if not (call := self.calls[self._passed]).answers:
                return call
            self._passed += 1
        return None


class Shelf:
    """Groups of calls under each key; the nearest group that still waits is on top."""

    def __init__(self) -> None:
        self._stacks: dict[str, list[Group]] = {}

    def add(self, key: str, call: Call, mark: int) -> None:
        stack = self._stacks.setdefault(key, [])
        if not stack or stack[-1].mark != mark:
            stack.append(Group(mark))
        stack[-1].calls.append(call)

    def nearest(self, key: str) -> Call | None:
        stack = self._stacks.get(key, [])
        while stack:
            if (call := stack[-1].waiting()) is not None:
                return call
            stack.pop()
        return None


class Matcher:
    """Told of calls and results in the order they are heard."""

    def __init__(self) -> None:
        self.orphans: list[Answer] = []
        self._waiting: list[Answer] = []  # results since the last call
        self._unmatched: list[Answer] = []
        self._order = 0
        self._batch = 0
        self._spoken = False  # whether anyone but the model spoke since the last call
        self._near_ids, self._near_names, self._near_any = Shelf(), Shelf(), Shelf()
        self._near_spellings = Shelf()  # ids with the spaces around them
        self._all_ids: dict[str, Group] = {}
        self._all_names: dict[str, Group] = {}
        self._batches: dict[tuple[int, str | None], Group] = {}  # by name; under None those without an id
        self._last_of_id: dict[str, Call] = {}
        self._last_of_name: dict[str, Call] = {}

    def repeated(self, heard: HeardCall, arguments: object) -> Call | None:
        """The call that this one only repeats: same id, name and arguments, and no result between."""
        before = self._last_of_id.get(heard.raw_id.strip()) if heard.raw_id else None
        if before is None or before.answers:
            return None
        same = before.heard.name == heard.name and before.arguments == arguments
        return before if same else None

    def used(self, raw_id: str) -> bool:
        return raw_id.strip() in self._last_of_id

    def call(self, call: Call, turn: int) -> None:
        if self._spoken:
            self._batch += 1
            self._spoken = False
        self._order += 1
        call.order, call.batch = self._order, self._batch
        raw_id, name = call.heard.raw_id.strip(), call.heard.name
        if raw_id:
            self._near_spellings.add(call.heard.raw_id, call, turn)
            self._near_ids.add(raw_id, call, turn)
            self._all_ids.setdefault(raw_id, Group(0)).calls.append(call)
            self._last_of_id[raw_id] = call
        self._near_names.add(name, call, self._batch)
        self._near_any.add("", call, self._batch)
        self._all_names.setdefault(name, Group(0)).calls.append(call)
        self._batches.setdefault((self._batch, name), Group(0)).calls.append(call)
        if not raw_id:
            self._batches.setdefault((self._batch, None), Group(0)).calls.append(call)
        self._last_of_name[name] = call

    def spoke(self) -> None:
        """Someone other than the model spoke: calls that follow are another batch."""
        self._spoken = True

    def result(self, heard: HeardResult, place: int) -> None:
        self._order += 1
        self._spoken = True
        self._waiting.append(Answer(heard, self._order, place, self._batch))

    def settle(self) -> None:
        """Match what was reported so far; ids first, so that a nameless result takes what is left."""
        for answer in self._waiting:
            if answer.raw_id:
                self._give(self._by_id(answer), answer)
        for answer in self._waiting:
            if not answer.raw_id:
                self._give(self._by_name(answer), answer)
        self._waiting.clear()

    def close(self, *, trust_ids: bool) -> None:
        """Match what stood before its call or under an id that no call has; the rest are orphans.

        With `trust_ids` an id that no call has here is one that a call has elsewhere.
        """
        self.settle()
        for answer in self._unmatched:
            call = self._later(answer) or (None if trust_ids else self._by_place(answer))
            (self.orphans if call is None else call.answers).append(answer)

    def _give(self, call: Call | None, answer: Answer) -> None:
        (self._unmatched if call is None else call.answers).append(answer)

    def _by_id(self, answer: Answer) -> Call | None:
        return (
            self._near_spellings.nearest(answer.heard.raw_id)
            or self._near_ids.nearest(answer.raw_id)
            or self._last_of_id.get(answer.raw_id)
        )

    def _by_name(self, answer: Answer) -> Call | None:
        name = answer.heard.name
        if not name:
            return self._near_any.nearest("")
        if (call := self._near_names.nearest(name)) is not None:
            return call
        if (call := self._near_any.nearest("")) is not None and call.batch == answer.batch:
            return call
        again = self._last_of_name.get(name)
        return again if again is not None and again.batch == answer.batch else None

    def _later(self, answer: Answer) -> Call | None:
        """A call that was made after its result was reported."""
        raw_id, name = answer.raw_id, answer.heard.name
        group = self._all_ids.get(raw_id) if raw_id else self._all_names.get(name)
        if group is None or not (raw_id or name):
            return None
        return group.waiting() or (group.calls[0] if raw_id else None)

    def _by_place(self, answer: Answer) -> Call | None:
        """A call that was open where the result stood, of the same name or without an id to disagree with."""
        name = answer.heard.name
        for key in (name, None) if name else (None,):
            group = self._batches.get((answer.batch, key))
            call = group.waiting() if group is not None and answer.raw_id else None
            if call is not None and (not name or call.heard.name == name):
                return call
        return None


def places(call: Call, answer: Answer, turn: Draft) -> str:
    """How a result stood to its call, as a diagnostic code; "" when it stood where it belongs."""
    if answer.order < call.order:
        return "early_result"
    return "misplaced_result" if answer.place > turn.place + 1 else ""
