"""A turn's calls as one batch: which may start, which are settled. A machine without IO.

Calls keep their order where order can matter: a call waits for every earlier one that it
clashes with. Two calls clash when one of them changes a path that the other touches (a
folder and what is in it are the same place), or when one of them wants to run alone.
Everything else runs at once, up to the limit.

A tool that was given up while it ran still holds its paths until it has really ended.
Whoever waits for such a path is `stuck`, and is answered instead of run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..errors import UsageError
from ..model import Outcome
from .events import State

LONGEST_PATH = 4096
"""No file has a longer path: one that is longer stands for itself only."""

Live = Literal["validating", "awaiting_approval", "scheduled", "executing"]


class Footprint(Struct, frozen=True):
    """What a call touches: paths by their one name, whether it changes them, whether it runs alone."""

    paths: tuple[str, ...] = ()
    changes: bool = False
    alone: bool = False


UNTOUCHED = Footprint()


class Summary(Struct, frozen=True):
    """How a batch ended: every call counted once, by its outcome; then what else was noticed.

    `duplicates` are calls that were given twice or had their outcome already. `filtered`
    counts calls taken out of results.
    """

    scheduled: int = 0
    completed: int = 0
    errors: int = 0
    cancelled: int = 0
    denied: int = 0
    interrupted: int = 0
    invalid: int = 0
    repaired: int = 0
    over_limit: int = 0
    duplicates: int = 0
    filtered: int = 0
    shortened: int = 0
    given_up: int = 0

    @staticmethod
    def of(outcomes: Iterable[Outcome]) -> Summary:
        """Outcomes counted; what else was noticed, only the batch knows."""
        ended = [outcome.status for outcome in outcomes]
        return Summary(
            len(ended),
            ended.count("complete"),
            ended.count("error"),
            ended.count("cancelled"),
            ended.count("denied"),
            ended.count("interrupted"),
        )


class Places:
    """Paths that are taken, asked for overlap: the same place, one above it, or one below it."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._changed: set[str] = set()
        self._above_read: set[str] = set()
        self._above_changed: set[str] = set()

    def add(self, footprint: Footprint) -> None:
        taken, above = (
            (self._changed, self._above_changed) if footprint.changes else (self._read, self._above_read)
        )
        for path in footprint.paths:
            taken.add(path)
            above.update(_above(path))

    def clash(self, footprint: Footprint) -> bool:
        if not footprint.paths:
            return False
        return any(self._meets(path, footprint.changes) for path in footprint.paths)

    def _meets(self, path: str, changes: bool) -> bool:
        if _overlaps(path, self._changed, self._above_changed):
            return True
        return changes and _overlaps(path, self._read, self._above_read)


def _overlaps(path: str, taken: set[str], above: set[str]) -> bool:
    return bool(taken) and (path in taken or path in above or any(up in taken for up in _above(path)))


def _above(path: str) -> Iterator[str]:
    """The folders that hold a path, "." for everything that is not absolute."""
    if path in (".", "/") or len(path) > LONGEST_PATH:
        return
    at = path.rfind("/")
    while at > 0:
        yield path[:at]
        at = path.rfind("/", 0, at)
    yield "/" if at == 0 else "."


class _Call(Struct):
    state: Live
    footprint: Footprint = UNTOUCHED


class Batch:
    """Feed it what happens to each call; ask it which may start and whether all is settled.

    `given_up` holds the footprints of tools that still run although their calls are
    settled; a session hands the same mapping to one batch after the other.
    """

    def __init__(
        self,
        call_ids: Iterable[str],
        *,
        parallel: int = 8,
        given_up: dict[str, Footprint] | None = None,
    ) -> None:
        self.parallel = max(parallel, 1)
        self.outcomes: dict[str, Outcome] = {}
        self.late = 0
        self.given_up: dict[str, Footprint] = {} if given_up is None else given_up
        self._live: dict[str, _Call] = {call_id: _Call("validating") for call_id in call_ids}
        self._order = tuple(self._live)
        self._executing = 0

    # What happens

    def admit(self, call_id: str, footprint: Footprint = UNTOUCHED, *, ask: bool = False) -> None:
        """The arguments fit: the call waits for approval, or for its slot."""
        self._expect(call_id, "validating")
        self._live[call_id] = _Call("awaiting_approval" if ask else "scheduled", footprint)

    def approve(self, call_id: str, footprint: Footprint | None = None) -> None:
        """The user agreed; with other arguments the call may touch other places."""
        call = self._expect(call_id, "awaiting_approval")
        self._live[call_id] = _Call("scheduled", call.footprint if footprint is None else footprint)

    def start(self, call_id: str) -> None:
        self._expect(call_id, "scheduled")
        if call_id not in self._free(self.parallel - self._executing):
            raise UsageError(f"call {call_id} must wait for another; start only what startable() names")
        self._live[call_id].state = "executing"
        self._executing += 1

    def settle(self, call_id: str, outcome: Outcome, *, still_running: bool = False) -> bool:
        """Give a call its outcome, at whatever point it is; False if it has one already."""
        call = self._live.pop(call_id, None)
        if call is None:
            self.late += 1
            return False
        self.outcomes[call_id] = outcome
        if call.state == "executing":
            self._executing -= 1
            if still_running:
                self.given_up[call_id] = call.footprint
        return True

    def ended(self, call_id: str) -> None:
        """A tool that was given up has ended after all; its paths are free again."""
        self.given_up.pop(call_id, None)

    # What follows

    def state(self, call_id: str) -> State:
        if (call := self._live.get(call_id)) is not None:
            return call.state
        return self.outcomes[call_id].status

    def live(self, *states: Live) -> tuple[str, ...]:
        """The calls without an outcome, in order; only those in the given states if there are any."""
        return tuple(call_id for call_id, call in self._live.items() if not states or call.state in states)

    @property
    def done(self) -> bool:
        return not self._live

    def startable(self) -> tuple[str, ...]:
        """The calls that may start now, in order, as many as the limit leaves room for."""
        room = self.parallel - self._executing
        return tuple(self._free(room)) if room > 0 else ()

    def stuck(self) -> tuple[str, ...]:
        """Scheduled calls that would have to wait for a tool that was given up."""
        if not self.given_up:
            return ()
        held = self._held()
        waiting = self.live("scheduled")
        return tuple(call_id for call_id in waiting if held.clash(self._live[call_id].footprint))

    def summary(self) -> Summary:
        return replace(Summary.of(self.outcomes.values()), scheduled=len(self._order))

    def results(self) -> Sequence[tuple[str, Outcome]]:
        """The outcomes there are, in the order the calls were made."""
        return [(call_id, self.outcomes[call_id]) for call_id in self._order if call_id in self.outcomes]

    def _free(self, room: int) -> Iterator[str]:
        ahead, held = Places(), self._held()
        behind_someone = False
        for call_id, call in self._live.items():
            mine = call.footprint
            if not room:
                return
            if call.state == "scheduled":
                waits = (mine.alone and behind_someone) or ahead.clash(mine) or held.clash(mine)
                if not waits:
                    yield call_id
                    room -= 1
            if mine.alone or call.state == "validating":
                return  # nobody overtakes a call that runs alone, or one whose places are not known yet
            if mine.paths:
                ahead.add(mine)
            behind_someone = True

    def _held(self) -> Places:
        held = Places()
        for footprint in self.given_up.values():
            held.add(footprint)
        return held

    def _expect(self, call_id: str, state: Live) -> _Call:
        call = self._live.get(call_id)
        if call is None or call.state != state:
            known = call_id in self.outcomes or call is not None
            found = self.state(call_id) if known else "not in this batch"
            raise UsageError(f"call {call_id} is {found}; this needs one that is {state}")
        return call
