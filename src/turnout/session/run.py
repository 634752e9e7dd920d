"""A run as its listener sees it: events as they come, and always exactly one terminal event at the end.

The work is done in a separate task. To leave the events early is to cancel: the history is
valid as soon as the work has ended, and the next run waits for that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import suppress
from typing import Any, get_args

from msgspec import Struct

from ..errors import StoreError, TurnoutError
from ..history.log import History
from ..history.waiting import PROMPT_CANCELLED
from ..model import Outcome
from ..tools.declare.events import ToolState
from ..tools.schedule.batch import Live
from ..world.secrets import Secrets
from .events import Cancelled, Emit, Failed, SessionEvent, Terminal, Waiting
from .redact_events import EventRedactor
from .settle_call import settle_with_events

Work = Callable[[Emit], Awaitable[Terminal]]
"""What a run does: emits everything that happens, and gives back how it ended."""


class RunPorts(Struct):
    """What a run needs of its session. `begin` waits until the session is free; `end` frees it."""

    history: History
    secrets: Secrets
    commit: Callable[[], Awaitable[None]]
    begin: Callable[[Run], Awaitable[None]]
    end: Callable[[Run], None]
    returns_calls: bool = False  # the caller runs them: they stay open, and their arguments stay as written


class Events:
    """What happens in a run, to be walked with `async for`. To close or to leave it is to cancel."""

    def __init__(self, run: Run | Callable[[], Awaitable[Run]]) -> None:
        self._run = run if isinstance(run, Run) else None
        self._open_run = None if isinstance(run, Run) else run  # where the session is not open yet

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> SessionEvent:
        if self._run is None:
            if self._open_run is None:  # closed before it began
                raise StopAsyncIteration
            self._run = await self._open_run()
        return await self._run.next()

    def take_ready(self) -> list[SessionEvent]:
        """The events that are here already, without waiting; the last one of a run is not among them."""
        return self._run.take_ready() if self._run is not None else []

    async def aclose(self) -> None:
        """Cancel the run, and wait until it has ended."""
        self._open_run = None
        if self._run is not None:
            await self._run.close()

    def __await__(self) -> Generator[Any, None, Terminal]:
        """Run to the end; the terminal event."""
        return self._last_event().__await__()

    async def _last_event(self) -> Terminal:
        async for event in self:
            if isinstance(event, Terminal):
                return event
        raise TurnoutError("bug: the run ended without a terminal event")  # pragma: no cover

    def __del__(self) -> None:
        if self._run is not None:
            self._run.leave()


class Run:
    """One piece of work of a session."""

    def __init__(self, ports: RunPorts, work: Work, options: Mapping[str, Any] | None = None) -> None:
        self._ports = ports
        self.options = options or {}  # of its requests
        self.key = ""  # of its prompt
        self.is_new = False  # it says something that was not said before
        self.is_given_up = False  # it was cancelled on purpose, not because its process ends
        self.is_cancelled_elsewhere = False  # by another process, through the store
        self.left = False  # the listener is gone
        self._work = work
        self._events: deque[SessionEvent] = deque()
        self._redactor = None if ports.returns_calls else EventRedactor(ports.secrets)
        self._listener: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._driving = False
        self._cancelled = False
        self._ended = False  # the listener has had the last event
        self._shown_live: dict[str, str] = {}  # calls that the listener takes for running, by id: their names

    # For the listener

    async def next(self) -> SessionEvent:
        if self._ended:
            raise StopAsyncIteration
        if self._task is None:
            await self._start_task()
        while not self._events:
            self._listener = asyncio.get_running_loop().create_future()
            try:
                await self._listener
            except asyncio.CancelledError:  # the listener was cancelled: as with a generator, that is the end
                self.leave()
                raise
        event = self._end_shown_calls(await self._commit_before(self._events.popleft()))
        if isinstance(event, Terminal):
            self._ended = True
            await self._stop_task()  # a listener that stops at this event leaves a free session
        return event

    def take_ready(self) -> list[SessionEvent]:
        """The events that wait for the listener, except a terminal one."""
        ready: list[SessionEvent] = []
        if self._ports.history.writer is not None:
            return ready  # what an event shows is stored first, which may take a while: `next` does it
        while self._events and not isinstance(self._events[0], Terminal):
            ready.append(self._events.popleft())
        return ready

    async def close(self) -> None:
        """Stop the work and wait until it has ended."""
        self._ended = self.left = True
        await self._stop_task()

    def leave(self) -> None:
        """The listener is gone, in any thread, and whether or not the loop still runs."""
        self._ended = self.left = True
        if self.active and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._task.get_loop().call_soon_threadsafe(self.cancel)

    def cancel(self) -> None:
        """Stop the work; its last event says so."""
        self._cancelled = True
        if self._task is not None and self._driving:  # a task that is cancelled before it began says nothing
            self._task.cancel()

    @property
    def active(self) -> bool:
        """Whether the work may still write. If its loop was closed, it cannot."""
        task = self._task
        return task is None or not (task.done() or task.get_loop().is_closed())

    async def wait_until_over(self) -> None:
        """Until the work has ended."""
        if self._task is not None and self.active:
            await asyncio.wait({self._task})

    # For the work

    def emit(self, event: SessionEvent) -> None:
        """Pass an event on. This is the one place where text leaves towards listeners."""
        if self._redactor is None:
            self._events.append(event)
        else:
            self._events.extend(self._redactor.feed(event))
        if self._events and self._listener is not None and not self._listener.done():
            self._listener.set_result(None)

    async def _start_task(self) -> None:
        await self._ports.begin(self)
        self._task = asyncio.get_running_loop().create_task(self._run_to_end())

    async def _stop_task(self) -> None:
        if self._task is None:
            return
        if not self._task.done():
            self.cancel()
            await self.wait_until_over()

    async def _run_to_end(self) -> None:
        self._driving, loop = True, asyncio.get_running_loop()
        terminal: Terminal = Failed(TurnoutError("the run was broken off"))
        try:
            terminal = await self._do_work()
        except asyncio.CancelledError:
            terminal = Cancelled()
        except TurnoutError as error:
            terminal = Failed(error)
        except Exception as error:  # a bug of ours must end the run too, and say what it was
            terminal = Failed(TurnoutError(f"{type(error).__name__}: {error}"))
            terminal.error.__cause__ = error
        finally:
            self._driving = False  # a second cancel must not break off the end: the listener would hang
            # If the loop is closed, this is garbage collection: another run may have the session by now.
            collected = loop.is_closed()
            terminal = terminal if collected else self._settle_open_calls(terminal)
            try:
                if not collected:
                    with suppress(StoreError):  # the next write raises the error
                        await self._ports.commit()
            finally:
                self._ports.end(self)
                if not collected:
                    self.emit(terminal)

    async def _do_work(self) -> Terminal:
        if self._cancelled:
            raise asyncio.CancelledError
        return await self._work(self.emit)

    def _settle_open_calls(self, terminal: Terminal) -> Terminal:
        """Answer calls that are still open. If that cannot be written, the run ends as a failure."""
        if self._ports.returns_calls or isinstance(terminal, Waiting):
            return terminal
        try:
            self._close_calls("cancelled" if isinstance(terminal, Cancelled) else "interrupted")
            if self.key and self.is_given_up and isinstance(terminal, Cancelled):
                self._ports.history.note(PROMPT_CANCELLED, {"key": self.key})
        except TurnoutError as error:
            return terminal if isinstance(terminal, Failed) else Failed(error)
        return terminal

    def _close_calls(self, status: Any) -> None:
        history = self._ports.history
        for open_call in history.open_calls:
            outcome = Outcome(
                status, synthetic=True, reason="stopped" if open_call.started else "did_not_run"
            )
            for event in settle_with_events(history, open_call.call, outcome):
                self.emit(event)

    async def _commit_before(self, event: SessionEvent) -> SessionEvent:
        """Store what the event shows, then give the event. A store that fails ends the run."""
        try:
            await self._ports.commit()
        except StoreError as error:
            return event if isinstance(event, Failed) else Failed(error)
        return event

    def _end_shown_calls(self, event: SessionEvent) -> SessionEvent:
        """The event, or before the last one the end of a call that would stay shown as running.

        That happens when the store fails: outcomes that are not stored are not told.
        """
        if isinstance(event, ToolState):
            self._note_shown(event)
        elif isinstance(event, Terminal) and self._shown_live:
            self._events.appendleft(event)
            call_id, name = self._shown_live.popitem()
            return ToolState(call_id, name, "interrupted", "its outcome could not be stored")
        return event

    def _note_shown(self, event: ToolState) -> None:
        if event.state in get_args(Live):
            self._shown_live[event.call_id] = event.name
        else:
            self._shown_live.pop(event.call_id, None)
