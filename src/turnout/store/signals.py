"""How a process learns what others did to a session: new entries, and requests to cancel its run.

PostgreSQL tells us at once; SQLite is asked again and again. In both cases what counts is read from the
tables: a signal only says that it is time to look, so one that is lost costs a moment and nothing else.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from ..errors import StoreError
from ..model import Entry, Note
from .ports import Lease, StoreBackend
from .recover import UNREADABLE
from .summary_of_entries import decode_or_none

LOOK_AGAIN = 2.0
"""Seconds after which a watcher looks without a signal, where the database gives signals."""

StopListening = Callable[[], None]


class WatchedEvent(Struct, frozen=True):
    """One entry of a session as another process wrote it. Pass `place` as `after` to go on from here."""

    place: int
    at: float
    entry: Entry


class SessionSignals(Protocol):
    """Says that it is time to look. `wake` is called in a thread, possibly without a reason."""

    every: float  # seconds between two looks, where no signal comes

    def listen(self, session: str, wake: Callable[[], None]) -> StopListening:
        """From now on, wake when this session has new entries."""

    def listen_for_cancels(self, wake: Callable[[], None]) -> StopListening:
        """From now on, wake when someone asks for a run to be cancelled."""


class PollingSignals:
    """No signals: watchers look again and again."""

    def __init__(self, every: float) -> None:
        self.every = every

    def listen(self, session: str, wake: Callable[[], None]) -> StopListening:
        return lambda: None

    def listen_for_cancels(self, wake: Callable[[], None]) -> StopListening:
        return lambda: None


async def watch_session(backend: StoreBackend, session: str, after: int) -> AsyncIterator[WatchedEvent]:
    """The entries of a session after a place, as they are written, by whatever process; without an end."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    signals = backend.signals

    def wake() -> None:
        with suppress(RuntimeError):  # the loop is closed, and the watcher with it
            loop.call_soon_threadsafe(woken.set)

    stop = await asyncio.to_thread(signals.listen, session, wake)
    try:
        while True:
            woken.clear()
            for each in await asyncio.to_thread(backend.log.read_after, session, after):
                after = each.place
                yield WatchedEvent(each.place, each.at, _entry_of(each.place, each.data))
            with suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), signals.every)
    finally:
        await asyncio.shield(asyncio.to_thread(stop))


def _entry_of(place: int, data: bytes) -> Entry:
    found = decode_or_none(data)
    return found if found is not None else Note(UNREADABLE, {"place": place})


class CancelWatch:
    """A thread that looks for requests to cancel, while runs are under way in this process."""

    def __init__(self, backend: StoreBackend, leases: Callable[[], Mapping[str, Lease]]) -> None:
        self._backend = backend
        self._leases = leases
        self._wanted: dict[str, Callable[[], None]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._woken = threading.Event()

    def add(self, session: str, on_cancel: Callable[[], None]) -> None:
        """Call `on_cancel`, in a thread, when someone asks for the run of this session to be cancelled."""
        with self._lock:
            self._wanted[session] = on_cancel
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="turnout-cancel", daemon=True)
                self._thread.start()
        self._woken.set()

    def remove(self, session: str) -> None:
        with self._lock:
            self._wanted.pop(session, None)

    def _work(self) -> None:
        stop: StopListening | None = None
        while True:
            if stop is None:
                with suppress(StoreError):
                    stop = self._backend.signals.listen_for_cancels(self._woken.set)
            self._woken.wait(self._backend.signals.every if stop is None else self._pause)
            self._woken.clear()
            with self._lock:
                if not self._wanted:
                    self._thread = None
                    break
            with suppress(StoreError):  # the server is away; look again later
                self._look_once()
        if stop is not None:
            stop()

    @property
    def _pause(self) -> float:
        return max(self._backend.signals.every, 0.25)

    def _look_once(self) -> None:
        leases = self._leases()
        mine = [leases[session] for session in tuple(self._wanted) if session in leases]
        for session in self._backend.cancels.cancelled_sessions(mine) if mine else ():
            with self._lock:
                on_cancel = self._wanted.pop(session, None)
            if on_cancel is not None:
                on_cancel()
