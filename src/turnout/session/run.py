"""A run as its listener sees it: events as they come, exactly one terminal event last, whatever happens.

The work goes on in a task of its own. Leaving the events early is a cancel: the history is
valid as soon as the work has ended, and the next run waits for that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import StoreError, TurnoutError
from ..history.log import History
from ..model import Outcome, ToolCall
from ..tools.declare.events import ToolEvent, ToolResult, ToolState
from .events import Cancelled, Failed, SessionEvent, Terminal
from .redact_events import EventRedactor

if TYPE_CHECKING:
    from .session import Session

Emit = Callable[[SessionEvent], None]
Work = Callable[[Emit], Awaitable[Terminal]]
"""What a run does: tells of everything that happens, and gives back how it ended."""


def settled(history: History, call: ToolCall, outcome: Outcome) -> Iterator[ToolEvent]:
    """Settle a call that no batch will settle, and tell of it as a batch would."""
    history.settle(call.id, outcome)
    yield ToolState(call.id, call.name, outcome.status)
    yield ToolResult(call.id, call.name, outcome)


class Events:
    """What happens in a run, to be walked with `async for`. Close it, or just leave: that is a cancel."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> SessionEvent:
        return await self._run.next()

    async def aclose(self) -> None:
        await self._run.close()

    def __del__(self) -> None:
        self._run.leave()


class Run:
    """One piece of work of a session, under way."""

    def __init__(self, session: Session, work: Work, options: Mapping[str, Any] | None = None) -> None:
        self.session = session
        self.options = options or {}  # of its requests
        self.left = False  # nobody listens any more
        self._work = work
        self._events: deque[SessionEvent] = deque()
        self._redactor = EventRedactor(session.secrets)
        self._listener: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._driving = False
        self._cancelled = False
        self._told = False  # the listener has had the last event

    # For the listener

    async def next(self) -> SessionEvent:
        if self._told:
            raise StopAsyncIteration
        if self._task is None:
            await self._begin()
        while not self._events:
            self._listener = asyncio.get_running_loop().create_future()
            try:
                await self._listener
            except asyncio.CancelledError:  # whoever listens is stopped: as with a generator, that is the end
                self.leave()
                raise
        event = self._kept(self._events.popleft())
        if isinstance(event, Terminal):
            self._told = True
            await self._end()  # whoever stops at this event leaves a session that is free again
        return event

    async def close(self) -> None:
        """Stop the work and wait until it has ended."""
        self._told = self.left = True
        await self._end()

    def leave(self) -> None:
        """The listener is gone without a word, in whatever thread and whether or not the loop still runs."""
        self._told = self.left = True
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
        """Whether the work may still write. In a loop that was closed around it, it never will."""
        task = self._task
        return task is None or not (task.done() or task.get_loop().is_closed())

    async def over(self) -> None:
        """Until the work has ended."""
        if self._task is not None and self.active:
            await asyncio.wait({self._task})

    # For the work

    def emit(self, event: SessionEvent) -> None:
        """Pass an event on. This is the one place where text leaves towards listeners."""
        self._events.extend(self._redactor.feed(event))
        if self._events and self._listener is not None and not self._listener.done():
            self._listener.set_result(None)

    async def _begin(self) -> None:
        await self.session.begin(self)
        self._task = asyncio.get_running_loop().create_task(self._drive())

    async def _end(self) -> None:
        if self._task is None:
            return
        if not self._task.done():
            self.cancel()
            await self.over()

    async def _drive(self) -> None:
        self._driving, loop = True, asyncio.get_running_loop()
        terminal: Terminal = Failed(TurnoutError("the run broke off"))
        try:
            terminal = await self._worked()
        except asyncio.CancelledError:
            terminal = Cancelled()
        except TurnoutError as error:
            terminal = Failed(error)
        except Exception as error:  # a fault of ours must end the run too, and say what it was
            terminal = Failed(TurnoutError(f"{type(error).__name__}: {error}"))
            terminal.error.__cause__ = error
        finally:
            # In a closed loop this is being collected: others may have the session, and nobody listens.
            collected = loop.is_closed()
            terminal = terminal if collected else self._settled(terminal)
            self.session.end(self)
            if not collected:
                self.emit(terminal)

    async def _worked(self) -> Terminal:
        if self._cancelled:
            raise asyncio.CancelledError
        return await self._work(self.emit)

    def _settled(self, terminal: Terminal) -> Terminal:
        """Answer calls that are still open; what cannot be written ends the run as a failure."""
        try:
            self._close_calls("cancelled" if isinstance(terminal, Cancelled) else "interrupted")
        except TurnoutError as error:
            return terminal if isinstance(terminal, Failed) else Failed(error)
        return terminal

    def _close_calls(self, status: Any) -> None:
        history = self.session.history
        for open_call in history.open_calls:
            reason = "stopped" if open_call.started else "did_not_run"
            for event in settled(history, open_call.call, Outcome(status, synthetic=True, reason=reason)):
                self.emit(event)

    def _kept(self, event: SessionEvent) -> SessionEvent:
        """What is shown is in the store first. A store that cannot keep it ends the run."""
        try:
            self.session.history.commit()
        except StoreError as error:
            return event if isinstance(event, Failed) else Failed(error)
        return event
