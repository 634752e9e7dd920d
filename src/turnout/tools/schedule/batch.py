"""A turn's calls as one batch: which may start, which are settled. A machine without IO.

Calls keep their order where order can matter: a call waits for every earlier one that it
clashes with, or that wants to run alone. Everything else runs at once, up to the limit.
Calls of other sessions of the same tree are waited for too (see `running`).

A tool that was given up while it ran still holds its paths until it has really ended.
A call that waits for such a path is stuck: it gets an error outcome and does not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ...errors import UsageError
from ...model import Outcome
from ..declare.events import State
from ..declare.footprint import UNTOUCHED, Footprint, TakenPlaces
from .running import RunningCalls

Live = Literal["validating", "awaiting_approval", "scheduled", "executing"]


class BatchSummary(Struct, frozen=True):
    """How a batch ended: every call counted once, by its outcome; then other counts.

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
    waiting: int = 0

    @staticmethod
    def of(outcomes: Iterable[Outcome]) -> BatchSummary:
        """Outcomes counted; only the batch knows the other counts."""
        ended = [outcome.status for outcome in outcomes]
        return BatchSummary(
            len(ended),
            ended.count("complete"),
            ended.count("error"),
            ended.count("cancelled"),
            ended.count("denied"),
            ended.count("interrupted"),
        )


class _LiveCall(Struct):
    state: Live
    footprint: Footprint = UNTOUCHED


class Batch:
    """Feed it what happens to each call; ask it which may start and whether all are settled.

    `running` knows the calls of all batches: all batches of a tree of sessions share it.
    """

    def __init__(
        self, call_ids: Iterable[str], *, parallel: int = 8, running: RunningCalls | None = None
    ) -> None:
        self.parallel = max(parallel, 1)
        self.outcomes: dict[str, Outcome] = {}
        self.deferred: list[str] = []
        self.late = 0
        self.running = running or RunningCalls(self.parallel)
        self.number = self.running.join()
        self._live: dict[str, _LiveCall] = {call_id: _LiveCall("validating") for call_id in call_ids}
        self._order = tuple(self._live)
        self._executing = 0
        self._changes = 0
        self._plan: tuple[list[str], dict[str, Footprint]] = ([], {})
        self._plan_of = (-1, -1)  # how many changes there were, here and in the tree, when it was made

    # Events

    def admit(self, call_id: str, footprint: Footprint = UNTOUCHED, *, ask: bool = False) -> None:
        """The arguments fit: the call waits for approval, or for its slot."""
        self._require_state(call_id, "validating")
        self._live[call_id] = _LiveCall("awaiting_approval" if ask else "scheduled", footprint)
        self._changes += 1

    def approve(self, call_id: str, footprint: Footprint | None = None) -> None:
        """The user agreed; with other arguments the call may touch other places."""
        call = self._require_state(call_id, "awaiting_approval")
        self._live[call_id] = _LiveCall("scheduled", call.footprint if footprint is None else footprint)
        self._changes += 1

    def start(self, call_id: str) -> None:
        call = self._require_state(call_id, "scheduled")
        free, _ = self._current_plan()
        if call_id not in free:
            raise UsageError(f"call {call_id} must wait for another; start only what startable() returns")
        call.state = "executing"
        self._executing += 1
        self.running.begin((self.number, call_id), call.footprint)
        free.remove(call_id)  # those beside it were counted together with it: they still may start
        self._plan_of = (self._changes, self.running.changes)

    def settle(self, call_id: str, outcome: Outcome, *, still_running: bool = False) -> bool:
        """Give a call its outcome, in any state; False if it has one already."""
        call = self._live.pop(call_id, None)
        if call is None:
            self.late += 1
            return False
        self.outcomes[call_id] = outcome
        self._changes += 1
        if call.state == "executing":
            self._executing -= 1
            if still_running:
                self.running.give_up((self.number, call_id), call.footprint)
            else:
                self.running.end((self.number, call_id))
        return True

    def defer(self, call_id: str) -> None:
        """The call waits for an answer from outside; this batch goes on without it."""
        if self._live.pop(call_id, None) is not None:
            self.deferred.append(call_id)
            self._changes += 1

    def mark_ended(self, call_id: str) -> None:
        """A tool that was given up has ended after all; its paths are free again."""
        self.running.mark_ended((self.number, call_id))

    def queue_blocked(self) -> None:
        """Keep a place in the queue for each call that waits only for calls of other batches."""
        self.running.queue(self.number, self._current_plan()[1])

    # Questions

    def state(self, call_id: str) -> State:
        if (call := self._live.get(call_id)) is not None:
            return call.state
        if call_id in self.deferred:
            return "waiting"
        return self.outcomes[call_id].status

    def live(self, *states: Live) -> tuple[str, ...]:
        """The calls without an outcome, in order; only those in the given states if there are any."""
        return tuple(call_id for call_id, call in self._live.items() if not states or call.state in states)

    @property
    def is_done(self) -> bool:
        return not self._live

    def startable(self) -> tuple[str, ...]:
        """The calls that may start now, in order, as many as the limits leave room for."""
        return tuple(self._current_plan()[0])

    def stuck_calls(self) -> tuple[str, ...]:
        """Scheduled calls that would have to wait for a tool that was given up."""
        if not self.running.given_up:
            return ()
        held = TakenPlaces(self.running.given_up.values())
        waiting = self.live("scheduled")
        return tuple(
            call_id for call_id in waiting if held.clash(_named_places(self._live[call_id].footprint))
        )

    def summary(self) -> BatchSummary:
        counted = BatchSummary.of(self.outcomes.values())
        return replace(counted, scheduled=len(self._order), waiting=len(self.deferred))

    def results(self) -> Sequence[tuple[str, Outcome]]:
        """The outcomes there are, in the order the calls were made."""
        return [(call_id, self.outcomes[call_id]) for call_id in self._order if call_id in self.outcomes]

    def _current_plan(self) -> tuple[list[str], dict[str, Footprint]]:
        """The calls that may start, and those that wait only for calls of other batches."""
        now = (self._changes, self.running.changes)
        if self._plan_of != now:
            self._plan, self._plan_of = self._make_plan(), now
        return self._plan

    def _make_plan(self) -> tuple[list[str], dict[str, Footprint]]:
        free: list[str] = []
        blocked: dict[str, Footprint] = {}
        ahead, behind, held = (
            TakenPlaces(),
            self._places_behind(),
            TakenPlaces(self.running.given_up.values()),
        )
        room, shared_room = self.parallel - self._executing, self.running.room
        behind_someone = self._executing > 0
        for call_id, call in self._live.items():
            mine = call.footprint
            if room <= 0:
                break
            if call.state == "scheduled":
                waits = (mine.alone and behind_someone) or ahead.clash(mine) or behind.clash(mine)
                waits = waits or held.clash(_named_places(mine))
                if not waits and self.running.is_blocked((self.number, call_id), mine):
                    blocked[call_id] = mine
                elif not waits and (shared_room > 0 or not mine.counted):
                    free.append(call_id)
                    room -= 1
                    shared_room -= mine.counted
            if mine.alone or call.state == "validating":
                break  # no call overtakes one that runs alone, or one whose places are not known yet
            ahead.add(mine)
            behind_someone = True
        return free, blocked

    def _places_behind(self) -> TakenPlaces:
        """The places of running calls that come after a waiting one.

        They started because they did not clash with it. It may since have been approved with
        other arguments, so it must be compared with them too.
        """
        places, waits = TakenPlaces(), False
        for call in self._live.values():
            if call.state != "executing":
                waits = True
            elif waits:
                places.add(call.footprint)
        return places

    def _require_state(self, call_id: str, state: Live) -> _LiveCall:
        call = self._live.get(call_id)
        if call is None or call.state != state:
            known = call_id in self.outcomes or call is not None
            found = self.state(call_id) if known else "not in this batch"
            raise UsageError(f"call {call_id} is {found}; this needs one that is {state}")
        return call


def _named_places(footprint: Footprint) -> Footprint:
    """Only the paths that a reading command names must wait for a tool that was given up."""
    return replace(footprint, everywhere=False) if footprint.everywhere else footprint
