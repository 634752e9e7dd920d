"""The tools of one session at work: every call of a turn as one batch, batches one after the other.

One scheduler serves a session, interactive or not. A subagent has its own; the two share which
calls run (see `running`).

Who settles: the scheduler settles every call of a batch that it runs, exactly once. The intent is
in the history before the tool runs, and the outcome before anyone sees it. Calls outside of a batch
are settled by others: the session refuses calls that it will not run (`session.run`), resuming
settles what a crash left open (`store.recover`), and `History.append` seals the calls of the turn
before. If one of them was first, its outcome stands and the scheduler reports that one.

Time is the loop's: timeouts and grace are its timers, so a loop with a virtual clock drives
everything here (with `threads=Inline()` for tools that block).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from inspect import isawaitable
from typing import Any, TypeAlias

from msgspec import Struct

from ...diagnostic import Diagnostic
from ...errors import UsageError
from ...history.log import History
from ...model import Outcome, ToolCall
from ..confine.guarded_ports import PortGuard
from ..confine.output import BATCH_LIMIT, RESULT_LIMIT, SavedOutput
from ..confine.threads import ThreadPort, Threads
from ..declare.context import Asker
from ..declare.events import ToolEvent
from ..declare.provided import check_provided
from ..declare.registry import Registry
from ..declare.tool import Tool
from ..policy.approval import Approver
from ..policy.rules import Policy, Rule
from ..policy.situation import Situation
from ..policy.taint import Taint
from .batch import BatchSummary
from .batch_run import BatchRun
from .running import SharedTree
from .tool_hooks import ToolHooks

Listener = Callable[[ToolEvent], Awaitable[None] | None]
OnBatchEnd: TypeAlias = Callable[[BatchSummary, frozenset[str]], None]
"""Called with how a batch ended, and the ids of its calls with an unknown tool or wrong arguments."""
ReportRunEnd: TypeAlias = Callable[[Outcome | None, str], None]
"""Called with the outcome of a tool, and in one word what went wrong ("" for nothing)."""
AroundRun: TypeAlias = Callable[[str, str, dict[str, Any]], AbstractContextManager[ReportRunEnd]]
"""Given a call's id, its tool and its arguments: the context manager in which the tool runs."""


class ToolLimits(Struct, frozen=True):
    """What bounds a batch: calls at once, calls in all, seconds, characters of results, bytes of media."""

    parallel: int = 8
    calls: int = 64
    timeout: float = 300.0
    grace: float = 2.0
    result: int = RESULT_LIMIT
    batch: int = BATCH_LIMIT
    media: int = 16 * 1024 * 1024


class ToolScheduler:
    """Runs the calls of a session's turns and settles them in its history.

    `approver` is asked when the policy says so; without one, such a call is denied. `save_rule`
    stores the rule for an answer of "always". `save` takes the whole text of a result that had to
    be cut and returns where it is. `hooks` see each call before and after; `around` measures its
    run. `workspace`, `spawn`, `environment` and `asker`, which asks the user a tool's question, are
    handed to tools as they are. `tree` is what this scheduler shares with those of its subagents.
    `commit` makes the history durable before a tool runs. With `defers_approval` and without an
    approver, a call that needs approval is handed out, like one of an external tool. `provides` are
    the values that tools ask for by their type.
    """

    def __init__(
        self,
        tools: Registry | Iterable[Tool],
        history: History,
        *,
        policy: Policy | None = None,
        approver: Approver | None = None,
        save_rule: Callable[[Rule], Awaitable[None] | None] | None = None,
        limits: ToolLimits | None = None,
        workspace: Any = None,
        spawn: Any = None,
        environment: Mapping[str, str] | None = None,
        asker: Asker | None = None,
        state: dict[str, Any] | None = None,
        threads: ThreadPort | None = None,
        save: Callable[[str], str] | None = None,
        hooks: ToolHooks | None = None,
        around: AroundRun | None = None,
        tree: SharedTree | None = None,
        commit: Callable[[], Awaitable[None]] | None = None,
        defers_approval: bool = False,
        provides: Sequence[Any] = (),
    ) -> None:
        self.registry = tools if isinstance(tools, Registry) else Registry(tools)
        self.history = history
        self.policy = policy or Policy()
        self.approver = approver
        self.save_rule = save_rule
        self.limits = limits or ToolLimits()
        self.hooks = hooks or ToolHooks()
        self.around = around or _no_measurement
        self.workspace = workspace
        self.spawn = spawn
        self.guard = PortGuard(workspace, spawn)
        self.environment = environment
        self.asker = asker
        self.provides = provides
        check_provided(self.registry, provides)
        self.state: dict[str, Any] = {} if state is None else state
        self.threads: ThreadPort = threads or Threads()
        self.taint = Taint(each.outcome for each in history.ledger if each.outcome is not None)
        self._keep_text = save or self._save_privately
        self.late = 0  # results that came after their call was given up
        self.defers_approval = defers_approval and approver is None
        self.commit = commit or self._commit_history
        self.tree = tree or SharedTree(self.limits.parallel)
        self._saved: SavedOutput | None = None
        self._turn = asyncio.Lock()
        self._runs: list[BatchRun] = []
        self._left: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def run(
        self,
        calls: Sequence[ToolCall],
        on_event: Listener | None = None,
        on_end: OnBatchEnd | None = None,
    ) -> BatchSummary:
        """Run a turn's calls as one batch and settle each; earlier batches run first.

        Cancelling this cancels the batch. A listener that raises gets no more events; its error
        is raised when the batch has ended. `on_end` is called at the end in every case.
        """
        batch = self._new_turn(calls, listening=on_event is not None)
        try:
            trouble = await self._run_with_listener(batch, on_event)
        finally:
            if on_end is not None:
                on_end(batch.run.summary(), frozenset(batch.run.invalid))
        if trouble is not None:
            raise trouble
        return _summary_of(batch.run)

    async def _run_with_listener(self, batch: _Turn, on_event: Listener | None) -> Exception | None:
        """Run the batch to its end; returns the listener's first error, if it raised one."""
        if on_event is None:
            async with batch as run:
                await asyncio.wait({run.ended})
            return None
        trouble: Exception | None = None
        try:
            async with batch as run:
                async for event in _events_of(run):
                    trouble = trouble or await _call_listener(on_event, event)
        finally:  # a cancelled batch has settled its calls meanwhile: report that too
            for event in batch.run.unread_events():
                trouble = trouble or await _call_listener(on_event, event)
        return trouble

    async def stream(self, calls: Sequence[ToolCall]) -> AsyncIterator[ToolEvent | BatchSummary]:
        """The events of a batch as they come, and its summary last. Closing it cancels the batch."""
        async with self._new_turn(calls, listening=True) as run:
            async for event in _events_of(run):
                yield event
        yield _summary_of(run)

    def cancel(self, call_id: str | None = None) -> None:
        """Stop one call, or without an id the batch that is running."""
        if call_id is None:
            for run in self._runs[:1]:
                run.cancel()
        for run in self._runs:
            if call_id in run.work:
                run.cancel(call_id)

    def fail(self, error: Exception) -> None:
        """Have the running batch raise this error when its running calls have ended; no other starts."""
        for run in self._runs[:1]:
            run.fail(error)

    async def close(self) -> None:
        """Stop the calls that run and settle those that wait.

        What tools keep in `state` is closed too if it has an `aclose`, as background commands do.
        """
        self._closed = True
        for run in tuple(self._runs):
            run.cancel(status="interrupted")
        if self._runs:
            await asyncio.wait({run.ended for run in self._runs})
        for held in self.state.values():
            if (end := getattr(held, "aclose", None)) is not None:
                await end()
        self.threads.close()

    @property
    def situation(self) -> Situation:
        """Where calls run now, as policy sees it."""
        self.taint.look(self.history.turns)
        return Situation(self.workspace, self.spawn, self.environment, self.state, self.taint.source)

    @property
    def busy(self) -> bool:
        return bool(self._runs)

    def _new_turn(self, calls: Sequence[ToolCall], *, listening: bool) -> _Turn:
        if self._closed:
            raise UsageError("this scheduler is closed; open a new session, which makes its own")
        if any(run.loop.is_closed() for run in self._runs):  # nothing can end these batches any more
            self._runs, self._turn = [], asyncio.Lock()
        self.tree.running.forget_dead()
        return _Turn(self._turn, self._runs, BatchRun(self, calls, listening))

    def diagnose(self, code: str, call_id: str = "", detail: str = "") -> None:
        """Add a diagnostic to those of the conversation."""
        self.history.diagnostics.append(Diagnostic("tools", code, call_id, detail))

    # Tasks of tools that do not stop

    def abandon(self, task: asyncio.Task[Any]) -> None:
        """Hold a task that does not end, so that nothing waits for it, not even the loop at its close."""
        self._hold_task(task)
        _unregister_task(task)

    def cancel_task(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task whose answer is not needed, and do not wait for its end."""
        self._hold_task(task)
        task.cancel()
        _unregister_task(task)

    def note_late_result(self, call_id: str, detail: str) -> None:
        """Count the result of a tool that was given up; it is ignored otherwise."""
        self.late += 1
        self.diagnose("late_result", call_id, detail)

    def _hold_task(self, task: asyncio.Task[Any]) -> None:
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def _commit_history(self) -> None:
        self.history.commit()

    def save(self, text: str) -> str:
        """Save a text that had to be cut; returns where it is, or "" if it could not be saved."""
        try:
            return self._keep_text(text)
        except Exception:  # a full disk must not fail the result, which is there
            return ""

    def _save_privately(self, text: str) -> str:
        if self._saved is None:
            self._saved = SavedOutput()
        return self._saved.save(text)


class _Turn:
    """The turn of a batch: enters after the batches before it, exits when every call is settled."""

    def __init__(self, lock: asyncio.Lock, runs: list[BatchRun], run: BatchRun) -> None:
        self.lock = lock
        self.runs = runs
        self.run = run

    async def __aenter__(self) -> BatchRun:
        self.runs.append(self.run)
        try:
            await self.lock.acquire()
        except BaseException:
            self.run.cancel()
            self.runs.remove(self.run)
            raise
        try:
            self.run.begin()
        except BaseException:
            await self.__aexit__()
            raise
        return self.run

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.run.close()
        finally:
            if self.run in self.runs:
                self.runs.remove(self.run)
            self.lock.release()


def _no_measurement(*_: Any) -> AbstractContextManager[ReportRunEnd]:
    return nullcontext(lambda outcome, trouble: None)


async def _events_of(run: BatchRun) -> AsyncIterator[ToolEvent]:
    assert run.events is not None
    while (event := await run.events.get()) is not None:
        yield event


async def _call_listener(listener: Listener, event: ToolEvent) -> Exception | None:
    try:
        answer = listener(event)
        if isawaitable(answer):
            await answer
    except Exception as error:
        return error
    return None


def _summary_of(run: BatchRun) -> BatchSummary:
    if run.failure is not None:
        raise run.failure
    return run.summary()


def _unregister_task(task: asyncio.Task[Any]) -> None:
    """Remove a task from the list that `asyncio.run` waits for: one that ignores cancellation never ends."""
    if task.done():
        return
    if (unregister := getattr(asyncio.tasks, "_unregister_task", None)) is not None:
        unregister(task)
        task._log_destroy_pending = False  # type: ignore[attr-defined]
