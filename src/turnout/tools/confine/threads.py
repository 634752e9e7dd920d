"""Threads for tools that block, so that they do not block the loop.

Their number is bounded, and they are daemons: a tool that never returns blocks its thread, but
neither the session nor the exit of the program. (The executors of the standard library wait for
their threads at exit.)
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

LIMIT = 64
BUSY = 0.005
"""Seconds until a thread is asked for again, where a short job found none."""
IDLE = 10.0
"""Seconds after which a thread without work ends."""

_Job = Callable[[], Callable[[], None]]
"""Does the work and returns how to deliver the result; then the thread already counts as idle."""


class ThreadPort(Protocol):
    """Runs functions that block."""

    def start(self, function: Callable[[], Any]) -> Any:
        """Run a function in a thread."""

    def close(self) -> None:
        """Release the threads."""


class NoThread(Exception):
    """Every thread is held by a tool that has not returned."""


class Threads:
    """Runs functions in daemon threads; at most `limit` at once."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self._process = os.getpid()
        self._lock = Lock()
        self._idle: list[SimpleQueue[_Job | None]] = []
        self._count = 0

    def start(self, function: Callable[[], T]) -> asyncio.Future[T]:
        """Run a function in a thread; the future holds what it returned or raised."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        context = copy_context()

        def job() -> Callable[[], None]:
            try:
                value = context.run(function)
            except BaseException as error:
                raised = error  # Python takes `error` back at the end of this block
                return lambda: _deliver_value(loop, future.set_exception, future, _portable(raised))
            return lambda: _deliver_value(loop, future.set_result, future, value)

        self._worker().put(job)
        return future

    def close(self) -> None:
        """Let idle threads end."""
        with self._lock:
            idle, self._idle = self._idle, []
        for jobs in idle:
            jobs.put(None)

    @property
    def busy(self) -> int:
        with self._lock:
            return self._count - len(self._idle)

    def _worker(self) -> SimpleQueue[_Job | None]:
        if self._process != os.getpid():  # threads do not pass through a fork
            self._process, self._lock, self._idle, self._count = os.getpid(), Lock(), [], 0
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._count >= self.limit:
                raise NoThread(f"all {self.limit} threads are held by tools that do not return")
            self._count += 1
        jobs: SimpleQueue[_Job | None] = SimpleQueue()
        try:
            Thread(target=self._work, args=(jobs,), name="turnout-tool", daemon=True).start()
        except RuntimeError as error:
            with self._lock:
                self._count -= 1
            raise NoThread(f"the system gives no thread: {error}") from error
        return jobs

    def _work(self, jobs: SimpleQueue[_Job | None]) -> None:
        try:
            while (job := self._next(jobs)) is not None:
                deliver = job()
                with self._lock:
                    self._idle.append(jobs)
                deliver()
                del job, deliver  # what they hold may be large, and the next job may come late
        finally:
            with self._lock:
                self._count -= 1

    def _next(self, jobs: SimpleQueue[_Job | None]) -> _Job | None:
        try:
            return jobs.get(timeout=IDLE)
        except Empty:
            with self._lock:
                if jobs in self._idle:
                    self._idle.remove(jobs)
                    return None
            return jobs.get()  # a caller took this thread in that moment


async def in_daemon(function: Callable[[], T]) -> T:
    """Run a function in a thread that delays neither the end of the loop nor the exit of the program."""
    return await _DAEMONS.start(function)


def call_on_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function on a loop, from any thread; nothing happens once the loop is closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


async def run_in_thread(threads: ThreadPort, function: Callable[[], T]) -> T:
    """Run a function in a thread of this port; waits for one where all are taken for the moment."""
    while True:
        try:
            future = threads.start(function)
        except NoThread:
            await asyncio.sleep(BUSY)
        else:
            return await future  # type: ignore[no-any-return]


_DAEMONS = Threads()


class Inline:
    """In place of threads, for simulation: the function runs at once, in the time of the loop."""

    def start(self, function: Callable[[], T]) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        future.set_result(function())
        return future

    def close(self) -> None:
        pass


def _deliver_value(
    loop: asyncio.AbstractEventLoop, give: Callable[[Any], None], future: asyncio.Future[Any], value: Any
) -> None:
    with suppress(RuntimeError):  # the loop was closed while the tool ran
        loop.call_soon_threadsafe(lambda: None if future.done() else give(value))


def _portable(error: BaseException) -> BaseException:
    """A future refuses `StopIteration`, which would end the coroutine that awaits it."""
    return RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
