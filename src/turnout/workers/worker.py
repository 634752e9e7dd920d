"""The worker process: takes runs from the queue, and picks up those whose worker is gone.

The lease of a session is the failure detector. A run that the engine shows as under way, but whose session
was lost by its worker, twice in a row, is put back into the queue. A worker that has taken a run and has
not had its session yet may only be busy, so it is given the time of a lease. If that was too early, no
harm is done: the key of the prompt and the lease keep a run from happening twice.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ..errors import StoreError, TurnoutError
from ..store import Store
from ..store.ports import Holder, LeaseState
from .engine import Engine, start_worker, stop_worker
from .prompt_work import SessionFor, finish_prompt
from .submitting import QUEUE, RunLine, queue_resumption, run_line

LOOK = 0.5
"""Seconds between two looks for runs that have lost their worker."""
TRIES = 30
GRACE = 30.0
"""Seconds that runs have to end when the worker is asked to stop."""


class Worker:
    """One process that finishes runs. `session_for` makes the session of a run."""

    def __init__(
        self,
        store: Store,
        session_for: SessionFor,
        *,
        queue: str = QUEUE,
        concurrency: int = 10,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(3).hex()}"
        self._store = store
        self._session_for = session_for
        self._queue = queue
        self._concurrency = concurrency
        self._report = report or (lambda text: None)
        self._engine = Engine(store)
        self._unheld: dict[tuple[str, str], float] = {}  # claims without a valid lease, since when
        self._mine: set[str] = set()  # keys of the runs that this process is working on

    async def serve(self, until: asyncio.Event, grace: float = GRACE) -> None:
        """Work until the event is set; then take no more runs, and let those under way end."""
        await self._start_in_time()
        self._report(f"worker {self.name}: up to {self._concurrency} runs at once from {self._queue}")
        try:
            while not until.is_set():
                with suppress(TurnoutError):  # the database is away; look again later
                    await asyncio.to_thread(self._look_once)
                with suppress(TimeoutError):
                    await asyncio.wait_for(until.wait(), LOOK)
        finally:
            await asyncio.to_thread(stop_worker, grace)
            self._engine.close()

    async def _start_in_time(self) -> None:
        """Begin to take runs; a database that is away for a moment is waited for."""
        for left in reversed(range(TRIES)):
            try:
                await asyncio.to_thread(lambda: self._engine.client)
                options: Any = {"queue": self._queue, "concurrency": self._concurrency}
                await start_worker(self._store, self._finish_run, name=self.name, **options)
                return
            except StoreError:
                await asyncio.to_thread(stop_worker, 0)
                # The engine gave the loop its own threads, and has just ended them.
                asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
                if not left:
                    raise
            await asyncio.sleep(LOOK)

    async def _finish_run(self, session: str, prompt: str, key: str) -> dict[str, object]:
        self._mine.add(key)
        try:
            return await finish_prompt(self._session_for, self._store, session, prompt, key)
        except TurnoutError as error:
            self._report(f"run {key}: {error}")
            raise
        finally:
            self._mine.discard(key)

    def _look_once(self) -> None:
        """Put runs without a worker back into the queue, and go on where answers have come."""
        for queue, lines in self._lost_runs().items():
            for line in lines:
                self._report(f"run {line.id}: its worker {line.worker} is gone; it goes on")
            self._engine.resume([line.id for line in lines], queue)
        for session, call_id in self._store.backend.waiting_calls.list_answered():
            queue_resumption(self._engine, session, call_id, self._queue)

    def _lost_runs(self) -> dict[str, list[RunLine]]:
        """The runs that have lost their worker, by their queues. One look is not enough to say so."""
        running = [run_line(each) for each in self._engine.list_running()]
        others = [line for line in running if line.id not in self._mine]
        leases = self._store.log.read_leases([line.session for line in others])
        now, before, self._unheld = time.monotonic(), self._unheld, {}
        lost: dict[str, list[RunLine]] = {}
        for line in others:
            lease = leases.get(line.session, LeaseState(None, False))
            if lease.valid:
                continue
            claim = (line.id, line.worker)
            since = self._unheld[claim] = before.get(claim, now)
            patience = 0.0 if is_of_worker(lease.holder, line.worker) else self._store.lease
            if claim in before and now - since >= patience:
                lost.setdefault(line.queue or self._queue, []).append(line)
        return lost


def is_of_worker(holder: Holder | None, worker: str) -> bool:
    """Whether the process that had a session is this worker, by its name."""
    return holder is not None and worker.startswith(f"{holder.host}-{holder.pid}-")


def print_report(text: str) -> None:
    """Tell the operator, on the error output."""
    print(text, file=sys.stderr, flush=True)
