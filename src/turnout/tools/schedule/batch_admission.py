"""The admission of a batch's calls: checked, seen by the hooks, then judged by the policy.

Most calls are checked at once. A call whose check may take long is checked in a separate process,
and a session with hooks asks them: both take time, so they happen beside each other.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from ...model import Outcome
from ..confine.check_apart import check_in_process
from ..declare.result import failure
from ..policy.approval import denied_outcome
from .admission import Admitted, RefusedCall, admit_call, admit_checked, costly_tool
from .outcomes import over_limit_outcome

if TYPE_CHECKING:
    from ..declare.tool import Tool
    from .batch_run import BatchRun, Work


class BatchAdmission:
    """Admits the calls of one run. `slots` bounds how many arguments are checked in processes at once."""

    def __init__(self, run: BatchRun, slots: AbstractAsyncContextManager[Any]) -> None:
        self.run = run
        self._slots = slots

    def check_call(self, work: Work, *, is_over_limit: bool) -> None:
        """Check what can be checked at once. Afterwards the call is admitted, costly or settled."""
        run, owner = self.run, self.run.scheduler
        run.emit_state(work, "validating")
        if is_over_limit:
            run.counts["over_limit"] += 1
            run.settle(work, over_limit_outcome(work.call, run.limits.calls))
            return
        work.costly = costly_tool(work.call, owner.registry, owner.policy)
        if work.costly is None:
            self._admit_work(work, admit_call(work.call, owner.registry, owner.policy, owner.situation))

    async def finish_check(self, work: Work) -> None:
        """Check a costly call, ask the hooks, then judge it; the other calls of the batch do not wait."""
        try:
            if work.costly is not None:
                await self._check_costly(work, work.costly)
            admitted = work.admitted  # None if the call has its outcome now
            if admitted is not None and self.run.scheduler.hooks.before:
                admitted = await self.run.hooks.before(work, admitted)
            if admitted is not None:
                work.admitted = admitted
                self.judge_call(work)
        except Exception as error:  # arguments so odd that they cannot even be judged
            self.run.settle(work, failure(error))
        self.run.pump()

    def judge_call(self, work: Work) -> None:
        """Ask the policy: the call is scheduled, waits for approval, or is denied."""
        run, admitted = self.run, work.tool_call
        verdict = admitted.verdict
        if verdict.effect == "deny":
            run.settle(work, denied_outcome(f"Refused by policy: {verdict.why}."))
        elif verdict.effect == "ask" and run.is_approved_later(work):
            run.batch.admit(work.call.id, admitted.footprint)
            run.emit_state(work, "scheduled", "approved")
        elif verdict.effect == "ask" and run.scheduler.approver is None and not run.scheduler.defers_approval:
            run.settle(
                work, denied_outcome(f"This call needs approval and the user cannot be asked: {verdict.why}.")
            )
        else:
            asks = verdict.effect == "ask"
            run.batch.admit(work.call.id, admitted.footprint, ask=asks)
            run.emit_state(work, "awaiting_approval" if asks else "scheduled", verdict.why if asks else "")

    async def _check_costly(self, work: Work, tool: Tool) -> None:
        """Check arguments in a separate process, until that has ended or the call is cancelled."""
        owner = self.run.scheduler
        async with self._slots:
            arguments, not_needed = work.call.arguments, self.run.open_question(work)
            checked = await check_in_process(tool, arguments, owner.threads, not_needed=not_needed)
        if not self.run.is_settled(work):
            renamed = tool.name != work.call.name
            self._admit_work(work, admit_checked(tool, checked, owner.policy, owner.situation, renamed))

    def _admit_work(self, work: Work, admitted: Admitted | RefusedCall) -> None:
        run = self.run
        if isinstance(admitted, RefusedCall):
            run.counts["invalid"] += 1
            run.invalid.add(work.call.id)
            run.diagnose("invalid_call", work, admitted.why)
            run.settle(work, admitted.outcome)
        elif self._ran_before(work, admitted):
            run.settle(work, Outcome("interrupted", synthetic=True, reason="stopped"))
        else:
            work.admitted = admitted
            self._note_repairs(work, admitted)

    def _ran_before(self, work: Work, admitted: Admitted) -> bool:
        """Whether a process that crashed has started this call: run it again only if that does no harm."""
        return self.run.scheduler.history.interaction(work.call.id).started and not admitted.tool.retry_safe

    def _note_repairs(self, work: Work, admitted: Admitted) -> None:
        work.repaired = admitted.renamed or bool(admitted.repairs)
        if admitted.renamed:
            self.run.diagnose("repaired_name", work, f"{work.call.name[:100]} is {admitted.tool.name}")
        if admitted.repairs:
            self.run.diagnose("repaired_arguments", work, ", ".join(admitted.repairs[:10]))
