"""One batch under way: the machine of `batch` driven by tasks, timers and answers.

Everything here happens on the loop, one thing at a time. A task ends, a timer fires, an answer
comes or someone cancels: each settles its calls and then starts the calls that became free.
Outcomes reach the history at once; the batch is over when every call has one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from ...errors import UsageError, callback_error
from ...history.waiting import WaitingCall, approved_calls, note_waiting
from ...model import Outcome, ToolCall
from ..declare.context import Asker, Question, ToolContext
from ..declare.events import State, ToolEvent, ToolResult, ToolState, ToolWaiting
from ..declare.result import failure
from .admission import Admitted
from .batch import Batch, BatchSummary
from .batch_admission import BatchAdmission
from .batch_budget import BatchBudget, ResultFitter
from .callbacks import NotNeeded
from .outcomes import not_run_outcome, path_in_use_outcome, stopped_outcome, timeout_outcome
from .perform import Ending, run_tool
from .progress import Reporter
from .questions import ApprovalQuestions, request_for
from .tool_hooks import BatchHooks

if TYPE_CHECKING:
    from ..declare.tool import Tool
    from .scheduler import ToolScheduler

Stop = Literal["cancelled", "interrupted", "timeout"]

CHECKS_AT_ONCE = 2
"""How many processes of a batch check arguments at the same time."""


class Work:
    """One call: what it became on admission, and what is under way for it."""

    def __init__(self, call: ToolCall, admitted: Admitted | None = None) -> None:
        self.call = call
        self.admitted = admitted
        self.costly: Tool | None = None  # its tool, if the check of its arguments may take long
        self.repaired = False  # its name or its arguments were corrected
        self.changed = False  # a user or a hook wrote other arguments
        self.cancelled = Event()
        self.not_needed: NotNeeded | None = None  # done when no answer about it is needed any more
        self.reporter: Reporter | None = None
        self.task: asyncio.Task[Ending] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.stop: Stop | None = None
        self.returned = False  # the tool's function has ended: the rest is ours, and short
        self.given_up = False

    @property
    def tool_call(self) -> Admitted:
        assert self.admitted is not None  # only admitted calls get further than validating
        return self.admitted

    def end_question(self) -> None:
        """Withdraw what is asked about the call, if anything is."""
        if self.not_needed is not None and not self.not_needed.done():
            self.not_needed.set_result(None)

    @property
    def name(self) -> str:
        return self.admitted.tool.name if self.admitted else self.call.name


class BatchRun:
    """Drives one batch. `ToolScheduler` makes it and runs one batch after the other."""

    def __init__(self, scheduler: ToolScheduler, calls: Sequence[ToolCall], listening: bool) -> None:
        self.scheduler = scheduler
        self.limits = scheduler.limits
        self.loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self.loop.create_future()
        self.events: asyncio.Queue[ToolEvent | None] | None = asyncio.Queue() if listening else None
        self.asking: asyncio.Task[None] | None = None
        self.admission = BatchAdmission(self, asyncio.Semaphore(CHECKS_AT_ONCE))
        self.hooks = BatchHooks(self, scheduler.hooks)
        self.failure: Exception | None = None  # the history could not be written
        self.counts: Counter[str] = Counter()
        self.invalid: set[str] = set()  # ids of calls that could not run
        self.work = {call.id: Work(call) for call in calls if self._is_open(call)}
        if again := len(calls) - len(self.work):
            self.counts["duplicates"] = again
            scheduler.diagnose("repeated_schedule", detail=f"{again} of {len(calls)} calls")
        self.running = scheduler.tree.running
        self.batch = Batch(self.work, parallel=self.limits.parallel, running=self.running)
        self.budget = BatchBudget(self.limits, len(self.work))
        self.fitter = ResultFitter(self.budget, scheduler.threads, scheduler.save, self._note_cut)

    # From begin to end

    def begin(self) -> None:
        """Check every call, then start what may start."""
        self.running.watch(self.batch.number, self.pump, self.loop.is_closed)
        for place, work in enumerate(self.work.values()):
            if work.call.id in self.batch.outcomes:
                continue
            try:
                self.admission.check_call(work, is_over_limit=place >= self.limits.calls)
            except Exception as error:  # arguments so odd that they cannot even be judged
                self.settle(work, failure(error))
        waiting = [self.work[each] for each in self.batch.live("validating")]
        if waiting and (self.scheduler.hooks.before or any(work.costly for work in waiting)):
            self.asking = self.loop.create_task(self._finish_checks(waiting))
        else:
            for work in waiting:
                self.admission.judge_call(work)
            self._start_questions()
        self.pump()

    async def _finish_checks(self, waiting: Sequence[Work]) -> None:
        """Admit all calls at once; each may start as soon as it is checked and the hooks have agreed."""
        await asyncio.gather(*(self.admission.finish_check(work) for work in waiting))
        self._start_questions()

    def _start_questions(self) -> None:
        if self.scheduler.defers_approval:
            for call_id in self.batch.live("awaiting_approval"):
                work = self.work[call_id]
                question = request_for(work, work.tool_call, work.tool_call.verdict.why, "")
                self.defer(work, "approval", msgspec.to_builtins(question))
            return
        if self.scheduler.approver is not None and self.batch.live("awaiting_approval"):
            self.asking = self.loop.create_task(ApprovalQuestions(self, self.scheduler.approver).ask())

    def pump(self) -> None:
        """Start the calls that became free; end the batch when all are settled."""
        for call_id in self.batch.stuck_calls():
            self.settle(self.work[call_id], path_in_use_outcome(self.work[call_id].tool_call.tool))
        while ready := self.batch.startable():
            for call_id in ready:
                self._start_call(self.work[call_id])
        self.batch.queue_blocked()
        if self.batch.is_done and not self.ended.done():
            self.running.leave(self.batch.number)
            self.ended.set_result(None)
            if self.events is not None:
                self.events.put_nowait(None)
        for pump in self.running.pumps_to_run(self.batch.number):
            self.loop.call_soon(pump)

    async def close(self) -> None:
        """Cancel what has no outcome, and wait until all have one: the grace time at the most."""
        self.cancel()
        try:
            await asyncio.wait({self.ended})
        except asyncio.CancelledError:
            self._give_up_all()
            raise

    def summary(self) -> BatchSummary:
        return replace(self.batch.summary(), **self.counts)

    def _is_open(self, call: ToolCall) -> bool:
        return self.scheduler.history.interaction(call.id).outcome is None

    # What those who are asked about a call need

    def is_settled(self, work: Work) -> bool:
        """Whether the call has its outcome, as when someone cancelled it in the meantime."""
        return work.call.id in self.batch.outcomes

    def open_question(self, work: Work) -> NotNeeded:
        """A future that is done when no answer about this call is needed any more."""
        if work.not_needed is None or work.not_needed.done():
            work.not_needed = self.loop.create_future()
        return work.not_needed

    def approve_call(self, work: Work, admitted: Admitted) -> None:
        """Let the call run as admitted, which after an edit is not what the model wrote."""
        work.admitted = admitted
        self.batch.approve(work.call.id, admitted.footprint)
        self.emit_state(work, "scheduled")

    # Handing out

    def is_approved_later(self, work: Work) -> bool:
        """Whether a user has approved this very call, with these arguments, after an earlier run ended."""
        granted = approved_calls(self.scheduler.history).get(work.call.id)
        return granted is not None and granted.get("fingerprint") == work.tool_call.subject.fingerprint

    def defer(
        self, work: Work, kind: Literal["external", "approval"], question: dict[str, Any] | None = None
    ) -> None:
        """Leave a call open until someone answers it: it is in the log first, then told."""
        admitted = work.tool_call
        history = self.scheduler.history
        waiting = WaitingCall(
            history.key, work.call.id, admitted.tool.name, dict(admitted.arguments), kind, question or {}
        )
        try:
            note_waiting(history, waiting)
        except Exception as error:
            self._fail_to_write(error)
            self.settle(work, not_run_outcome("interrupted"))
            return
        self.batch.defer(work.call.id)
        self.emit_state(work, "waiting", "waiting for approval" if kind == "approval" else "")
        self.emit(ToolWaiting(waiting))

    # Running

    def _start_call(self, work: Work) -> None:
        if work.tool_call.tool.external:
            self.defer(work, "external")
            return
        if not self._record_intent(work):
            return
        self.batch.start(work.call.id)
        self.counts["repaired"] += work.repaired
        self.emit_state(work, "executing")
        work.reporter = Reporter(work.call.id, self.emit, self._call_soon)
        work.task = self.loop.create_task(self._run_call(work))
        work.task.add_done_callback(lambda task: self._finish_call(work, task))
        self._set_timer(work, self._time_limit(work), lambda: self._stop_call(work, "timeout"))

    def _record_intent(self, work: Work) -> bool:
        """Record that the tool is about to run; if that cannot be done, settle the call and return False."""
        history, call_id, admitted = self.scheduler.history, work.call.id, work.tool_call
        changed = work.changed or admitted.repairs or admitted.arguments != work.call.arguments
        try:
            if not history.interaction(call_id).started:
                history.start(call_id, admitted.arguments if changed else None)
            return True
        except UsageError:  # the conversation has continued without it: it has its outcome, and must not run
            self.settle(work, not_run_outcome("interrupted"))
        except Exception as error:
            self._fail_to_write(error)
            self.settle(work, not_run_outcome("interrupted"))
        return False

    async def _run_call(self, work: Work) -> Ending:
        admitted, owner = work.tool_call, self.scheduler
        context = ToolContext(
            work.call.id,
            admitted.tool.name,
            workspace=owner.guard.workspace_for(owner.policy, admitted.tool.name),
            state=owner.state,
            shared=owner.tree.state,
            report=work.reporter,
            cancelled=work.cancelled,
            spawn=owner.guard.spawn_for(owner.policy, admitted.tool.name),
            environment=owner.environment,
            ask=self._user_asker(),
            provides=owner.provides,
        )
        try:
            await owner.commit()  # the intent is on disk before the effect
        except Exception as error:
            self._fail_to_write(error)
            return Ending(not_run_outcome("interrupted"))
        if work.cancelled.is_set():  # stopped while the intent was written: the tool does not begin
            return Ending(error=asyncio.CancelledError())
        with owner.around(work.call.id, admitted.tool.name, admitted.arguments) as ended:
            ending = await run_tool(admitted.tool, context, admitted.values, owner.threads)
            ended(ending.outcome, self._trouble_word(work, ending))
        if work.given_up or (work.stop and ending.outcome is None):
            return ending
        outcome = ending.outcome or failure(ending.error or RuntimeError("it gave nothing back"))
        work.returned = True
        if owner.hooks.after:
            outcome = await self.hooks.after(work, outcome)
        return Ending(await self.fitter.fit_in_thread(work.call.id, outcome), ending.calls)

    def _user_asker(self) -> Asker | None:
        """The function with which a tool asks the user. An error in it fails the tool and the batch."""
        if (asker := self.scheduler.asker) is None:
            return None

        async def ask_user(question: Question) -> str | None:
            try:
                return await asker(question)
            except Exception as error:
                self.fail(callback_error("asker", error))
                raise

        return ask_user

    def _trouble_word(self, work: Work, ending: Ending) -> str:
        """What went wrong while the tool ran, in one word; "" if nothing did."""
        if work.stop or ending.outcome is None:
            return work.stop or type(ending.error).__name__
        return "" if ending.outcome.status == "complete" else ending.outcome.status

    def _finish_call(self, work: Work, task: asyncio.Task[Ending]) -> None:
        ending = Ending(error=asyncio.CancelledError()) if task.cancelled() else task.result()
        if work.given_up:
            self.batch.mark_ended(work.call.id)
            self.scheduler.note_late_result(work.call.id, _detail_of(ending))
            self.pump()
            return
        if self.is_settled(work):
            return
        if ending.calls:
            self.counts["filtered"] += ending.calls
            self.diagnose("call_in_result", work, f"{ending.calls} left out")
        self.settle(work, self._outcome_of(work, ending))
        self.pump()

    def _outcome_of(self, work: Work, ending: Ending) -> Outcome:
        if work.stop is None:
            return ending.outcome or failure(ending.error or RuntimeError("it gave nothing back"))
        output = work.reporter.output if work.reporter and not ending.outcome else ""
        if self.scheduler.hooks.after:
            output = ""  # no hook has seen it
        if work.stop == "timeout":
            tool, seconds = work.tool_call.tool, self._time_limit(work)
            outcome = timeout_outcome(tool, seconds, output, work.given_up, ending.outcome)
        else:
            outcome = stopped_outcome(work.stop, output, work.given_up, ending.outcome)
        return self.fitter.fit(work.call.id, outcome)

    def settle(self, work: Work, outcome: Outcome, *, still_running: bool = False) -> None:
        """Give a call its one outcome: first in the history, then as an event."""
        outcome = self._with_source(work, outcome)
        if not self.batch.settle(work.call.id, outcome, still_running=still_running):
            return
        if work.timer is not None:
            work.timer.cancel()
        work.end_question()
        self.budget.share(work.call.id, 0)
        outcome = self._record_outcome(work, outcome)
        if work.reporter is not None:
            work.reporter.close()
        self.emit_state(work, outcome.status)
        repaired = work.admitted.repairs if work.admitted else ()
        self.emit(ToolResult(work.call.id, work.name, outcome, repaired))

    def _with_source(self, work: Work, outcome: Outcome) -> Outcome:
        """The outcome of a tool that ran, marked with its source; outcomes that we wrote stay unmarked."""
        if work.task is None or not outcome.content:
            return outcome
        marked = outcome if outcome.source else replace(outcome, source=work.tool_call.tool.source)
        self.scheduler.taint.feed(marked)
        return marked

    def _record_outcome(self, work: Work, outcome: Outcome) -> Outcome:
        """Settle the call in the history; returns the outcome that stands there if another was first."""
        history = self.scheduler.history
        try:
            if history.settle(work.call.id, outcome):
                return outcome
            return history.interaction(work.call.id).outcome or outcome
        except UsageError:  # the turn was rewound
            return outcome
        except Exception as error:
            self._fail_to_write(error)
            return outcome

    def _fail_to_write(self, error: Exception) -> None:
        """Cancel the batch, because the history cannot be written: nothing more may take effect."""
        if self.failure is None:
            self.failure = error
            self.loop.call_soon(self.cancel)

    def fail(self, error: Exception) -> None:
        """End the batch because a function of the user failed: running calls may end, no other starts."""
        self.failure = self.failure or error
        for each in self.batch.live():
            if self.batch.state(each) != "executing":
                self.settle(self.work[each], not_run_outcome("cancelled"))
        self.pump()

    # Stopping

    def cancel(
        self, call_id: str | None = None, status: Literal["cancelled", "interrupted"] = "cancelled"
    ) -> None:
        """Stop one call, or every one that has no outcome yet."""
        for each in self.batch.live():
            if call_id not in (None, each):
                continue
            if self.batch.state(each) == "executing":
                self._stop_call(self.work[each], status)
            else:
                self.settle(self.work[each], not_run_outcome(status))
        self.pump()

    def _stop_call(self, work: Work, why: Stop) -> None:
        task = work.task
        if work.returned and why != "timeout":
            work.end_question()  # a hook is asked about the result
        if work.stop or work.returned or task is None or task.done():
            return
        work.stop = why
        work.cancelled.set()
        if work.tool_call.tool.kind in ("async", "async_generator"):
            task.cancel()  # a thread cannot be cancelled; it sees the event
        self._set_timer(work, self.limits.grace, lambda: self._give_up(work))

    def _give_up(self, work: Work) -> None:
        """The tool did not stop when asked: settle its call, and ignore what it returns later."""
        if work.task is None or work.task.done() or work.returned:
            return
        work.given_up = True
        self.counts["given_up"] += 1
        self.scheduler.abandon(work.task)
        self.diagnose("abandoned_tool", work)
        self.settle(work, self._outcome_of(work, Ending()), still_running=True)
        self.pump()

    def _give_up_all(self) -> None:
        for call_id in self.batch.live("executing"):
            work = self.work[call_id]
            if work.task is not None and work.task.done():  # its callback has not come yet
                self._finish_call(work, work.task)
                continue
            work.stop = work.stop or "cancelled"
            work.cancelled.set()
            self._give_up(work)

    def _set_timer(self, work: Work, seconds: float, then: Callable[[], None]) -> None:
        if work.timer is not None:
            work.timer.cancel()
        work.timer = self.loop.call_later(seconds, then) if isfinite(seconds) else None

    def _time_limit(self, work: Work) -> float:
        own = work.tool_call.tool.timeout
        return self.limits.timeout if own is None else own

    # Events

    def unread_events(self) -> Iterator[ToolEvent]:
        """The events that the listener has not had yet."""
        while self.events is not None and not self.events.empty():
            if (event := self.events.get_nowait()) is not None:
                yield event

    def emit(self, event: ToolEvent) -> None:
        if self.events is not None:
            self.events.put_nowait(event)

    def emit_state(self, work: Work, state: State, detail: str = "") -> None:
        if self.events is not None:
            self.events.put_nowait(ToolState(work.call.id, work.name, state, detail))

    def _call_soon(self, flush: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed, so nothing reads events any more
            self.loop.call_soon_threadsafe(flush)

    def diagnose(self, code: str, work: Work, detail: str = "") -> None:
        self.scheduler.diagnose(code, work.call.id, detail)

    def _note_cut(self, call_id: str, before: int, after: int) -> None:
        self.counts["shortened"] += 1
        self.diagnose("shortened_output", self.work[call_id], f"{before} characters to {after}")


def _detail_of(ending: Ending) -> str:
    return repr(ending.error)[:200] if ending.error else "it returned"
