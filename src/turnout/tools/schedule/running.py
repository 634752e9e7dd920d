"""What the schedulers of a session and of all its subagents share: which calls run, and a few limits.

Each session has its own scheduler, but all of them work on the same files. So a call starts only
when no call of another session clashes with it. Later calls that clash with a waiting call do not
overtake it, so it does not wait for ever. A machine without IO.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from ..declare.footprint import Footprint, clash_across_sessions

CallKey: TypeAlias = tuple[int, str]
"""The number of a batch and the id of one of its calls: ids alone may repeat."""


class RunningCalls:
    """The calls that run now in a tree of sessions, and those that wait for them.

    `given_up` holds the footprints of tools that still run although their calls are settled.
    """

    def __init__(self, parallel: int = 8) -> None:
        self.parallel = max(parallel, 1)
        self.given_up: dict[CallKey, Footprint] = {}
        self._running: dict[CallKey, Footprint] = {}
        self._waiting: dict[CallKey, Footprint] = {}  # in the order in which they began to wait
        self._pumps: dict[int, Callable[[], None]] = {}
        self._ends: dict[int, Callable[[], bool]] = {}  # whether a batch can never continue
        self._batches = 0
        self._freed = False
        self.changes = (
            0  # counts changes of what runs, waits or is held; a plan of a batch is valid until the next one
        )

    # Batches

    def join(self) -> int:
        """A number for a new batch."""
        self._batches += 1
        return self._batches

    def watch(self, batch: int, pump: Callable[[], None], is_dead: Callable[[], bool] = bool) -> None:
        """`pump` starts calls of this batch that became free; `is_dead` says that its loop is closed."""
        self._pumps[batch], self._ends[batch] = pump, is_dead

    def leave(self, batch: int) -> None:
        """The batch has ended."""
        self.queue(batch, {})
        self._pumps.pop(batch, None)
        self._ends.pop(batch, None)

    def forget_dead(self) -> None:
        """Free what is held by batches whose loop was closed."""
        for batch in [number for number, is_dead in self._ends.items() if is_dead()]:
            for key in [key for key in self._running if key[0] == batch]:
                self.end(key)
            self.leave(batch)

    def pumps_to_run(self, batch: int) -> list[Callable[[], None]]:
        """The pumps of the other batches, if something became free since the last call of this."""
        freed, self._freed = self._freed, False
        return [pump for number, pump in self._pumps.items() if number != batch] if freed else []

    # Calls

    @property
    def room(self) -> int:
        """How many more calls may run."""
        return self.parallel - len(self._running)

    def is_blocked(self, key: CallKey, footprint: Footprint) -> bool:
        """Whether a call must wait for a call of another batch that runs, or that waited before it."""
        return any(clash_across_sessions(other, footprint) for other in self._footprints_before(key))

    def _footprints_before(self, key: CallKey) -> Iterator[Footprint]:
        batch = key[0]
        yield from (footprint for other, footprint in self._running.items() if other[0] != batch)
        for other, footprint in self._waiting.items():
            if other == key:
                return
            if other[0] != batch:
                yield footprint

    def queue(self, batch: int, blocked: Mapping[str, Footprint]) -> None:
        """The calls of this batch that wait for other batches now; each keeps its place from before."""
        for key in [each for each in self._waiting if each[0] == batch and each[1] not in blocked]:
            del self._waiting[key]
            self._freed = True
            self.changes += 1
        for call_id, footprint in blocked.items():
            self.changes += (batch, call_id) not in self._waiting
            self._waiting[batch, call_id] = footprint

    def begin(self, key: CallKey, footprint: Footprint) -> None:
        self._waiting.pop(key, None)
        self.changes += 1
        if footprint.counted:
            self._running[key] = footprint

    def end(self, key: CallKey) -> None:
        """The call has ended."""
        self.changes += 1
        self._freed |= self._running.pop(key, None) is not None

    def give_up(self, key: CallKey, footprint: Footprint) -> None:
        """The call is settled, but its tool did not stop: its paths stay taken."""
        self.end(key)
        self.given_up[key] = replace(footprint, alone=False, everywhere=False)

    def mark_ended(self, key: CallKey) -> None:
        """A tool that was given up has ended after all."""
        self.changes += 1
        self._freed |= self.given_up.pop(key, None) is not None


class SharedTree:
    """What a session shares with all its subagents; `state` is for tools whose limits hold for them all."""

    def __init__(self, parallel: int = 8) -> None:
        self.running = RunningCalls(parallel)
        self.state: dict[str, Any] = {}
