"""One batch under way: the machine of `batch` driven by tasks, timers and answers.

Everything here happens on the loop, one thing at a time. A task ends, a timer fires, an
answer comes or someone cancels: each settles what it settles and then starts what became
free. Outcomes reach the history at once; the batch is over when every call has one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from ...errors import UsageError, callback_error
from ...model import Content, Outcome, Text, ToolCall
from ..confine.check_apart import checked_apart
from ..confine.threads import NoThread
from ..declare.context import Asker, Question, ToolContext
from ..declare.events import State, ToolEvent, ToolResult, ToolState
from ..declare.result import failure
from ..policy.approval import refused
from .admission import (
    Admitted,
    Refused,
    admit,
    admit_checked,
    costly_tool,
    held,
    timed_out,
    too_many,
)
from .batch import Batch, Summary
from .batch_budget import BatchBudget, text_size
from .perform import Ending, perform
from .progress import Reporter
from .questions import Asking
from .tool_hooks import Consulting

if TYPE_CHECKING:
    from ..declare.tool import Tool
    from .scheduler import ToolScheduler

Stop = Literal["cancelled", "interrupted", "timeout"]

LARGE = 1_000_000
"""Characters from which on a result is cut and saved in a thread."""


CHECKS_APART = 2
"""How many processes of a batch check arguments at the same time."""


class Work:
    """One call: what it became on admission, and what is under way for it."""

    def __init__(self, call: ToolCall, admitted: Admitted | None = None) -> None:
        self.call = call
        self.admitted = admitted
        self.costly: Tool | None = None  # its tool, where the check of its arguments may take long
        self.repaired = False  # its name or its arguments were put right
        self.changed = False  # a user or a hook wrote other arguments
        self.cancelled = Event()
        self.over: asyncio.Future[None] | None = None  # ends what someone is asked about it
        self.reporter: Reporter | None = None
        self.task: asyncio.Task[Ending] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.stop: Stop | None = None
        self.returned = False  # the function is through: what follows is ours, and short
        self.given_up = False

    @property
    def tool_call(self) -> Admitted:
        assert self.admitted is not None  # only admitted calls get further than validating
        return self.admitted

    @property
    def name(self) -> str:
        return self.admitted.tool.name if self.admitted else self.call.name


class BatchRun:
    """Drives one batch. Made by `ToolScheduler`, which lets one run after the other."""

    def __init__(self, scheduler: ToolScheduler, calls: Sequence[ToolCall], listening: bool) -> None:
        self.scheduler = scheduler
        self.limits = scheduler.limits
        self.loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self.loop.create_future()
        self.events: asyncio.Queue[ToolEvent | None] | None = asyncio.Queue() if listening else None
        self.asking: asyncio.Task[None] | None = None
        self.hooks = Consulting(self, scheduler.hooks)
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
        self._checks_apart = asyncio.Semaphore(CHECKS_APART)

    # From begin to end

    def begin(self) -> None:
        """Check every call, then start what may start."""
        self.running.watch(self.batch.number, self.pump, self.loop.is_closed)
        for place, work in enumerate(self.work.values()):
            if work.call.id in self.batch.outcomes:
                continue
            try:
                self._admit(work, over=place >= self.limits.calls)
            except Exception as error:  # arguments so odd that they cannot even be judged
                self.settle(work, failure(error))
        waiting = [self.work[each] for each in self.batch.live("validating")]
        if waiting and (self.scheduler.hooks.before or any(work.costly for work in waiting)):
            self.asking = self.loop.create_task(self._admit_later(waiting))
        else:
            for work in waiting:
                self._judge(work)
            self._ask()
        self.pump()

    async def _admit_later(self, waiting: Sequence[Work]) -> None:
        """See to all calls at once; each goes its way as soon as it is checked and the hooks have agreed."""
        await asyncio.gather(*(self._admit_one_later(work) for work in waiting))
        self._ask()

    async def _admit_one_later(self, work: Work) -> None:
        try:
            if work.costly is not None:
                await self._check_apart(work, work.costly)
            admitted = work.admitted  # None if it has its outcome now
            if admitted is not None and self.scheduler.hooks.before:
                admitted = await self.hooks.before(work, admitted)
            if admitted is not None:
                work.admitted = admitted
                self._judge(work)
        except Exception as error:  # as odd as what a model writes
            self.settle(work, failure(error))
        self.pump()

    async def _check_apart(self, work: Work, tool: Tool) -> None:
        """Check arguments in a process of its own, until that is through or the call is cancelled."""
        owner = self.scheduler
        async with self._checks_apart:
            task = self.loop.create_task(checked_apart(tool, work.call.arguments, owner.threads))
            work.over = self.loop.create_future()
            first: set[asyncio.Future[Any]] = {task, work.over}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})  # which ends its process
        if work.call.id not in self.batch.outcomes:
            renamed = tool.name != work.call.name
            self._take(work, admit_checked(tool, task.result(), owner.policy, owner.situation, renamed))

    def _ask(self) -> None:
        if self.scheduler.approver is not None and self.batch.live("awaiting_approval"):
            self.asking = self.loop.create_task(Asking(self, self.scheduler.approver).ask())

    def pump(self) -> None:
        """Start what became free; see whether all is done."""
        for call_id in self.batch.stuck():
            self.settle(self.work[call_id], held(self.work[call_id].tool_call.tool))
        while ready := self.batch.startable():
            for call_id in ready:
                self._start(self.work[call_id])
        self.batch.queue_blocked()
        if self.batch.done and not self.ended.done():
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

    def summary(self) -> Summary:
        return replace(self.batch.summary(), **self.counts)

    # Admission

    def _is_open(self, call: ToolCall) -> bool:
        return self.scheduler.history.interaction(call.id).outcome is None

    def _admit(self, work: Work, over: bool) -> None:
        self._show(work, "validating")
        if over:
            self.counts["over_limit"] += 1
            self.settle(work, too_many(work.call, self.limits.calls))
            return
        owner = self.scheduler
        work.costly = costly_tool(work.call, owner.registry, owner.policy)
        if work.costly is None:
            self._take(work, admit(work.call, owner.registry, owner.policy, owner.situation))

    def _take(self, work: Work, admitted: Admitted | Refused) -> None:
        if isinstance(admitted, Refused):
            self.counts["invalid"] += 1
            self.invalid.add(work.call.id)
            self._note("invalid_call", work, admitted.why)
            self.settle(work, admitted.outcome)
        elif self._ran_before(work, admitted):
            self.settle(work, Outcome("interrupted", synthetic=True, reason="stopped"))
        else:
            work.admitted = admitted
            self._note_repairs(work, admitted)

    def _ran_before(self, work: Work, admitted: Admitted) -> bool:
        """Started by a process that did not live to see its end: run again only if that does no harm."""
        return self.scheduler.history.interaction(work.call.id).started and not admitted.tool.retry_safe

    def _note_repairs(self, work: Work, admitted: Admitted) -> None:
        work.repaired = admitted.renamed or bool(admitted.repairs)
        if admitted.renamed:
            self._note("repaired_name", work, f"{work.call.name[:100]} is {admitted.tool.name}")
        if admitted.repairs:
            self._note("repaired_arguments", work, ", ".join(admitted.repairs[:10]))

    def _judge(self, work: Work) -> None:
        admitted = work.tool_call
        verdict = admitted.verdict
        if verdict.effect == "deny":
            self.settle(work, refused(f"Refused by policy: {verdict.why}."))
        elif verdict.effect == "ask" and self.scheduler.approver is None:
            self.settle(work, refused(f"This call needs approval and nobody can be asked: {verdict.why}."))
        else:
            asks = verdict.effect == "ask"
            self.batch.admit(work.call.id, admitted.footprint, ask=asks)
            self._show(work, "awaiting_approval" if asks else "scheduled", verdict.why if asks else "")

    def approved(self, work: Work, admitted: Admitted) -> None:
        """The call may run as admitted, which after an edit is not what the model wrote."""
        work.admitted = admitted
        self.batch.approve(work.call.id, admitted.footprint)
        self._show(work, "scheduled")

    # Running

    def _start(self, work: Work) -> None:
        if not self._intent_recorded(work):
            return
        self.batch.start(work.call.id)
        self.counts["repaired"] += work.repaired
        self._show(work, "executing")
        work.reporter = Reporter(work.call.id, self.emit, self._soon)
        work.task = self.loop.create_task(self._perform(work))
        work.task.add_done_callback(lambda task: self._ended(work, task))
        self._set_timer(work, self._time_limit(work), lambda: self._stop(work, "timeout"))

    def _intent_recorded(self, work: Work) -> bool:
        """Whether the history knows that the tool is about to run; else the call is settled here."""
        history, call_id, admitted = self.scheduler.history, work.call.id, work.tool_call
        changed = work.changed or admitted.repairs or admitted.arguments != work.call.arguments
        try:
            if not history.interaction(call_id).started:
                history.start(call_id, admitted.arguments if changed else None)
            return True
        except UsageError:  # the conversation went on without it: it has its outcome, and must not run
            self.settle(work, Outcome("interrupted", synthetic=True, reason="did_not_run"))
        except Exception as error:
            self._broken(error)
            self.settle(work, Outcome("interrupted", synthetic=True, reason="did_not_run"))
        return False

    async def _perform(self, work: Work) -> Ending:
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
            ask=self._asking_user(),
        )
        try:
            owner.history.commit()  # the intent is on disk before the effect
        except Exception as error:
            self._broken(error)
            return Ending(Outcome("interrupted", synthetic=True, reason="did_not_run"))
        with owner.around(work.call.id, admitted.tool.name, admitted.arguments) as ended:
            ending = await perform(admitted.tool, context, admitted.values, owner.threads)
            ended(ending.outcome, self._trouble(work, ending))
        if work.given_up or (work.stop and ending.outcome is None):
            return ending
        outcome = ending.outcome or failure(ending.error or RuntimeError("it gave nothing back"))
        work.returned = True
        if owner.hooks.after:
            outcome = await self.hooks.after(work, outcome)
        return Ending(await self._fitted(work, outcome), ending.calls)

    def _asking_user(self) -> Asker | None:
        """How a tool puts a question to the user. An error of the asker is the tool's, and the user's too."""
        if (asker := self.scheduler.asker) is None:
            return None

        async def ask(question: Question) -> str | None:
            try:
                return await asker(question)
            except Exception as error:
                self.fail(callback_error("asker", error))
                raise

        return ask

    def _trouble(self, work: Work, ending: Ending) -> str:
        """What went wrong while the tool ran, in one word; "" if nothing did."""
        if work.stop or ending.outcome is None:
            return work.stop or type(ending.error).__name__
        return "" if ending.outcome.status == "complete" else ending.outcome.status

    def _ended(self, work: Work, task: asyncio.Task[Ending]) -> None:
        ending = Ending(error=asyncio.CancelledError()) if task.cancelled() else task.result()
        if work.given_up:
            self.batch.ended(work.call.id)
            self.scheduler.came_late(work.call.id, self._detail(ending))
            self.pump()
            return
        if ending.calls:
            self.counts["filtered"] += ending.calls
            self._note("call_in_result", work, f"{ending.calls} left out")
        self.settle(work, self._outcome(work, ending))
        self.pump()

    def _outcome(self, work: Work, ending: Ending) -> Outcome:
        if work.stop is None:
            return ending.outcome or failure(ending.error or RuntimeError("it gave nothing back"))
        shown = work.reporter.output if work.reporter and not ending.outcome else ""
        if self.scheduler.hooks.after:
            shown = ""  # no hook has seen it
        if work.stop == "timeout":
            late = timed_out(work.tool_call.tool, self._time_limit(work), shown, work.given_up)
            content = (*late.content, *(ending.outcome.content if ending.outcome else ()))
            return self._cut(work, replace(late, content=content))
        content = ending.outcome.content if ending.outcome else _texts(shown, work.given_up)
        stopped = Outcome(work.stop, content, synthetic=ending.outcome is None, reason="stopped")
        return self._cut(work, stopped)

    def settle(self, work: Work, outcome: Outcome, *, still_running: bool = False) -> None:
        """Give a call its one outcome: in the history first, then for all to see."""
        outcome = self._marked(work, outcome)
        if not self.batch.settle(work.call.id, outcome, still_running=still_running):
            return
        if work.timer is not None:
            work.timer.cancel()
        if work.over is not None and not work.over.done():
            work.over.set_result(None)
        self.budget.share(work.call.id, 0)
        outcome = self._recorded(work, outcome)
        if work.reporter is not None:
            work.reporter.close()
        self._show(work, outcome.status)
        repaired = work.admitted.repairs if work.admitted else ()
        self.emit(ToolResult(work.call.id, work.name, outcome, repaired))

    def _marked(self, work: Work, outcome: Outcome) -> Outcome:
        """What a tool that ran gave back, marked with where it came from; our own words stay unmarked."""
        if work.task is None or not outcome.content:
            return outcome
        marked = outcome if outcome.source else replace(outcome, source=work.tool_call.tool.source)
        self.scheduler.taint.feed(marked)
        return marked

    def _recorded(self, work: Work, outcome: Outcome) -> Outcome:
        """The outcome as it stands in the history, which may have been sealed in the meantime."""
        history = self.scheduler.history
        try:
            if history.settle(work.call.id, outcome):
                return outcome
            return history.interaction(work.call.id).outcome or outcome
        except UsageError:  # the turn was rewound
            return outcome
        except Exception as error:
            self._broken(error)
            return outcome

    def _broken(self, error: Exception) -> None:
        """The history cannot be written: nothing more may take effect."""
        if self.failure is None:
            self.failure = error
            self.loop.call_soon(self.cancel)

    def fail(self, error: Exception) -> None:
        """A function of the user failed: what runs may end, nothing else begins, then the error is raised."""
        self.failure = self.failure or error
        for each in self.batch.live():
            if self.batch.state(each) != "executing":
                self.settle(self.work[each], Outcome("cancelled", synthetic=True, reason="did_not_run"))
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
                self._stop(self.work[each], status)
            else:
                self.settle(self.work[each], Outcome(status, synthetic=True, reason="did_not_run"))
        self.pump()

    def _stop(self, work: Work, why: Stop) -> None:
        task = work.task
        if work.returned and why != "timeout" and work.over is not None and not work.over.done():
            work.over.set_result(None)  # a hook is at work on the result
        if work.stop or work.returned or task is None or task.done():
            return
        work.stop = why
        work.cancelled.set()
        if work.tool_call.tool.kind in ("async", "async_generator"):
            task.cancel()  # a thread cannot be cancelled; it sees the event
        self._set_timer(work, self.limits.grace, lambda: self._give_up(work))

    def _give_up(self, work: Work) -> None:
        """The tool did not stop when asked: answer for it, and ignore whatever it says later."""
        if work.task is None or work.task.done() or work.returned:
            return
        work.given_up = True
        self.counts["given_up"] += 1
        self.scheduler.abandon(work.task)
        self._note("abandoned_tool", work)
        self.settle(work, self._outcome(work, Ending()), still_running=True)
        self.pump()

    def _give_up_all(self) -> None:
        for call_id in self.batch.live("executing"):
            work = self.work[call_id]
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

    # The budget of the batch

    async def _fitted(self, work: Work, outcome: Outcome) -> Outcome:
        """The outcome within its share; a large one is cut and saved in a thread."""
        if text_size(outcome) < LARGE:
            return self._cut(work, outcome)
        share = self.budget.share(work.call.id, text_size(outcome))
        save = self.scheduler.save
        try:
            cut: Outcome = await self.scheduler.threads.start(
                lambda: self.budget.within(outcome, share, save)
            )
        except NoThread:
            cut = self.budget.within(outcome, share, save)
        return self._noted(work, outcome, cut)

    def _cut(self, work: Work, outcome: Outcome) -> Outcome:
        share = self.budget.share(work.call.id, text_size(outcome))
        return self._noted(work, outcome, self.budget.within(outcome, share, self.scheduler.save))

    def _noted(self, work: Work, outcome: Outcome, cut: Outcome) -> Outcome:
        if cut is not outcome:
            self.counts["shortened"] += 1
            self._note("shortened_output", work, f"{text_size(outcome)} characters to {text_size(cut)}")
        return cut

    # Telling

    def untold(self) -> Iterator[ToolEvent]:
        """What happened since whoever listens was last told."""
        while self.events is not None and not self.events.empty():
            if (event := self.events.get_nowait()) is not None:
                yield event

    def emit(self, event: ToolEvent) -> None:
        if self.events is not None:
            self.events.put_nowait(event)

    def _show(self, work: Work, state: State, detail: str = "") -> None:
        if self.events is not None:
            self.events.put_nowait(ToolState(work.call.id, work.name, state, detail))

    def _soon(self, flush: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody listens any more
            self.loop.call_soon_threadsafe(flush)

    def _note(self, code: str, work: Work, detail: str = "") -> None:
        self.scheduler.diagnose(code, work.call.id, detail)

    def _detail(self, ending: Ending) -> str:
        return repr(ending.error)[:200] if ending.error else "it returned"


def _texts(output: str, given_up: bool) -> tuple[Content, ...]:
    texts = [f"Output until then:\n{output}"] if output.strip() else []
    texts += ["It did not stop when told to and may still run."] if given_up else []
    return tuple(Text(text) for text in texts)
