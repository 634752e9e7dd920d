"""The questions of a batch to the user: one after the other, in the order of the calls.

Before each question the policy is asked again, because an answer ("always") may have decided the
next one too. When a call is cancelled, its question is withdrawn. Other calls do not wait for
answers. If the approver raises, the error is raised to the caller of the batch, and no call that
waits for an answer runs.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...errors import HookError, callback_error
from ..policy.approval import ApprovalRequest, Approver, Decision, denied_outcome
from ..policy.rules import Level, Subject, Verdict, grant_rule
from .admission import Admitted, RefusedCall, admit_edited
from .callbacks import HookStopped, answer_of

if TYPE_CHECKING:
    from .batch_run import BatchRun, Work

TRIES = 3
"""How often arguments may be edited before the call counts as refused."""


class ApprovalQuestions:
    """Asks about each call that awaits approval, and applies the answers to the run."""

    def __init__(self, run: BatchRun, approver: Approver) -> None:
        self.run = run
        self.approver = approver

    async def ask(self) -> None:
        """Ask every question of the batch, in turn."""
        for call_id in self.run.batch.live("awaiting_approval"):
            work = self.run.work[call_id]
            try:
                await self._settle_question(work)
            except Exception as error:  # the approver's or ours: neither may stay hidden
                self._fail_question(work, error)
            if not self.run.is_settled(work) and self.run.batch.state(call_id) == "awaiting_approval":
                self.run.settle(
                    work, denied_outcome(f"Its arguments were edited {TRIES} times and do not fit.")
                )
            self.run.pump()

    def _fail_question(self, work: Work, error: Exception) -> None:
        if not self.run.is_settled(work):
            self.run.settle(work, denied_outcome("It was not run: asking for approval failed."))
        self.run.fail(error)

    async def _settle_question(self, work: Work) -> None:
        problem = ""
        for _ in range(TRIES):
            admitted = work.tool_call
            verdict = self.run.scheduler.policy.decide(admitted.subject)
            if self.run.is_settled(work) or self._is_decided(work, admitted, verdict):
                return
            request = request_for(work, admitted, verdict.why, problem)
            decision = await self._ask_approver(work, request)
            if decision is None or self.run.is_settled(work):
                return
            if not request.binds(decision):
                self.run.settle(work, denied_outcome("The answer was for another call or other arguments."))
            elif decision.answer == "edit":
                problem = await self._take_edit(work, admitted, decision)
                if (
                    not self.run.is_settled(work)
                    and self.run.batch.state(work.call.id) == "awaiting_approval"
                ):
                    continue
            else:
                await self._apply_decision(work, admitted, decision)
            return

    def _is_decided(self, work: Work, admitted: Admitted, verdict: Verdict) -> bool:
        if verdict.effect == "allow":
            self.run.approve_call(work, admitted)
        elif verdict.effect == "deny":
            self.run.settle(work, denied_outcome(f"Refused by policy: {verdict.why}."))
        return verdict.effect != "ask"

    async def _apply_decision(self, work: Work, admitted: Admitted, decision: Decision) -> None:
        if decision.answer == "no":
            message = f"They say: {decision.message}" if decision.message else ""
            self.run.settle(work, denied_outcome(message))
            return
        if decision.answer != "once":
            await self._add_rule(admitted.subject, decision)
        if not self.run.is_settled(work):
            self.run.approve_call(work, admitted)

    async def _take_edit(self, work: Work, admitted: Admitted, decision: Decision) -> str:
        """Take the arguments that the user wrote, or say why they do not fit. What is denied stays denied."""
        owner = self.run.scheduler
        edited = admit_edited(admitted.tool, decision.arguments or {}, owner.policy, owner.situation)
        if isinstance(edited, RefusedCall):
            return edited.outcome.text
        work.changed = True
        hooked = await self.run.hooks.before(work, edited) if owner.hooks.before else edited
        if hooked is None:
            return ""
        if hooked.verdict.effect == "deny":
            self.run.settle(work, denied_outcome(f"Refused by policy: {hooked.verdict.why}."))
        elif hooked is edited or hooked.verdict.effect == "allow":
            self.run.approve_call(work, hooked)
        else:
            work.admitted = hooked  # the user has not seen this: ask again
        return ""

    async def _add_rule(self, subject: Subject, decision: Decision) -> None:
        level: Level = "session" if decision.answer == "session" else "saved"
        rule = replace(decision.rule or grant_rule(subject, level), effect="allow", level=level)
        owner = self.run.scheduler
        owner.policy = owner.policy.with_rule(rule)
        if level == "saved" and owner.save_rule is not None:
            try:
                saving = owner.save_rule(rule)
                if isawaitable(saving):
                    await saving
            except Exception as error:  # the answer holds for this session all the same
                self.run.failure = self.run.failure or callback_error("save_rule", error)

    async def _ask_approver(self, work: Work, request: ApprovalRequest) -> Decision | None:
        """What the approver says; None when the call was cancelled meanwhile."""
        abandon, not_needed = self.run.scheduler.cancel_task, self.run.open_question(work)
        try:
            answer = await answer_of(
                "approver", lambda: self.approver(request), abandon, not_needed=not_needed
            )
        except HookStopped:
            return None
        if not isinstance(answer, Decision):
            kind = type(answer).__name__
            raise HookError(f"it gave {kind}; give request.once(), request.no() or another", hook="approver")
        return answer


def request_for(work: Work, admitted: Admitted, why: str, problem: str) -> ApprovalRequest:
    """The question whether this call may run."""
    tool, subject = admitted.tool, admitted.subject
    return ApprovalRequest(
        work.call.id,
        tool.name,
        admitted.arguments,
        subject.risk,
        why,
        tuple(place[-1] for place in subject.paths),
        subject.reach,
        tool.description,
        problem,
        subject.fingerprint,
    )
