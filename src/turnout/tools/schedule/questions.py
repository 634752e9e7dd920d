"""The questions of a batch: one after the other, in the order of the calls.

Before each question the policy is asked again, because an answer ("always") may have
settled the next one too. A call that is cancelled takes its question with it; whoever is
asked cannot hold up anything else. What whoever is asked raises is raised to whoever runs the
batch: nothing that waits for an answer runs then.
"""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ...errors import HookError, callback_error
from ..policy.approval import ApprovalRequest, Approver, Decision, refused
from ..policy.rules import Level, Subject, Verdict, grant
from .admission import Admitted, Refused, admit_edited

if TYPE_CHECKING:
    from .batch_run import BatchRun, Work

TRIES = 3
"""How often arguments may be edited before the call counts as refused."""


class Asking:
    """Asks about each call that awaits approval, and tells the run what was said."""

    def __init__(self, run: BatchRun, approver: Approver) -> None:
        self.run = run
        self.approver = approver

    async def ask(self) -> None:
        """Every question of the batch, in turn."""
        for call_id in self.run.batch.live("awaiting_approval"):
            work = self.run.work[call_id]
            try:
                await self._settle_question(work)
            except Exception as error:  # of the approver, or of ours: either must come to light
                self._fail(work, error)
            if self._is_open(work) and self.run.batch.state(call_id) == "awaiting_approval":
                self.run.settle(work, refused(f"Its arguments were edited {TRIES} times and do not fit."))
            self.run.pump()

    def _fail(self, work: Work, error: Exception) -> None:
        if self._is_open(work):
            self.run.settle(work, refused("It was not run: the question whether it may run failed."))
        self.run.fail(error)

    async def _settle_question(self, work: Work) -> None:
        problem = ""
        for _ in range(TRIES):
            admitted = work.tool_call
            verdict = self.run.scheduler.policy.decide(admitted.subject)
            if not self._is_open(work) or self._is_decided(work, admitted, verdict):
                return
            request = _request(work, admitted, verdict.why, problem)
            decision = await self._answer(work, request)
            if decision is None or not self._is_open(work):
                return
            if not request.binds(decision):
                self.run.settle(work, refused("The answer was for another call or other arguments."))
            elif decision.answer == "edit":
                problem = await self._take_edit(work, admitted, decision)
                if self._is_open(work) and self.run.batch.state(work.call.id) == "awaiting_approval":
                    continue
            else:
                await self._heed(work, admitted, decision)
            return

    def _is_decided(self, work: Work, admitted: Admitted, verdict: Verdict) -> bool:
        if verdict.effect == "allow":
            self.run.approved(work, admitted)
        elif verdict.effect == "deny":
            self.run.settle(work, refused(f"Refused by policy: {verdict.why}."))
        return verdict.effect != "ask"

    async def _heed(self, work: Work, admitted: Admitted, decision: Decision) -> None:
        if decision.answer == "no":
            said = f"They say: {decision.message}" if decision.message else ""
            self.run.settle(work, refused(said))
            return
        if decision.answer != "once":
            await self._remember(admitted.subject, decision)
        if self._is_open(work):
            self.run.approved(work, admitted)

    async def _take_edit(self, work: Work, admitted: Admitted, decision: Decision) -> str:
        """Take the arguments that the user wrote, or say why they do not fit. What is denied stays denied."""
        owner = self.run.scheduler
        edited = admit_edited(admitted.tool, decision.arguments or {}, owner.policy, owner.situation)
        if isinstance(edited, Refused):
            return edited.outcome.text
        work.changed = True
        hooked = await self.run.hooks.before(work, edited) if owner.hooks.before else edited
        if hooked is None:
            return ""
        if hooked.verdict.effect == "deny":
            self.run.settle(work, refused(f"Refused by policy: {hooked.verdict.why}."))
        elif hooked is edited or hooked.verdict.effect == "allow":
            self.run.approved(work, hooked)
        else:
            work.admitted = hooked  # the user has not seen this: ask again
        return ""

    async def _remember(self, subject: Subject, decision: Decision) -> None:
        level: Level = "session" if decision.answer == "session" else "saved"
        rule = replace(decision.rule or grant(subject, level), effect="allow", level=level)
        owner = self.run.scheduler
        owner.policy = owner.policy.with_rule(rule)
        if level == "saved" and owner.save_rule is not None:
            try:
                saving = owner.save_rule(rule)
                if isawaitable(saving):
                    await saving
            except Exception as error:  # the answer holds for this session all the same
                self.run.failure = self.run.failure or callback_error("save_rule", error)

    async def _answer(self, work: Work, request: ApprovalRequest) -> Decision | None:
        """What the approver says; None when the call was cancelled meanwhile."""
        loop = asyncio.get_running_loop()
        question = loop.create_task(_asked(self.approver, request))
        work.over = loop.create_future()
        first: set[asyncio.Future[Any]] = {question, work.over}
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if not question.done():
            self.run.scheduler.let_go(question)
            return None
        answer, error = question.result()
        if error is not None:
            raise callback_error("approver", error)
        if not isinstance(answer, Decision):
            kind = type(answer).__name__
            raise HookError(f"it gave {kind}; give request.once(), request.no() or another", hook="approver")
        return answer

    def _is_open(self, work: Work) -> bool:
        return work.call.id not in self.run.batch.outcomes


async def _asked(approver: Approver, request: ApprovalRequest) -> tuple[Any, BaseException | None]:
    """What an approver gave or raised, as values: nothing it raises gets out of its task."""
    try:
        answer: Any = approver(request)
        return (await answer if isawaitable(answer) else answer), None
    except BaseException as error:
        return None, error


def _request(work: Work, admitted: Admitted, why: str, problem: str) -> ApprovalRequest:
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
