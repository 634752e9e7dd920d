"""Getting one reply, whatever it takes: attempts, waiting, other targets, recovery.

Tools start only when a reply has ended as it should, so a broken reply is always safe to
ask for again: silently before anything was shown, with `Discarded` after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..diagnostic import Diagnostic
from ..errors import HookError, ProviderError, StreamError, UsageError
from ..history.cut_turn import cut_turn
from ..model import Block, ModelTurn, Origin, Outcome, Text, Thinking, ToolCall, ToolSpec
from ..plain import dumps
from ..streaming.events import (
    Done,
    OpaqueBlock,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from ..targets.diagnose import diagnose
from ..targets.target import Target
from .attempt import RESTING, Attempt, check_rest
from .events import Discarded, SessionEvent, Status
from .retry import Budget, is_models_fault
from .run import settled

if TYPE_CHECKING:
    from .session import Session

Emit = Callable[[SessionEvent], None]


REFUSED_BEFORE = ProviderError("this request was refused before", kind="invalid_request")


class Exchange:
    """The next reply of a session. Ends with a turn in the history, or with the reason why not."""

    def __init__(
        self, session: Session, emit: Emit, tools: tuple[ToolSpec, ...], options: dict[str, Any] | None = None
    ) -> None:
        self.session = session
        self.emit = emit
        self.tools = tools
        self.options = {**session.options, **(options or {})}
        self.budget = Budget(session.limits.retry_policy, session.chance)
        self.tried: set[Origin] = set()
        self.attempt: Attempt | None = None
        self._refusal: ProviderError | None = None

    async def reply(self) -> ModelTurn:
        """The turn, appended to the history."""
        target = await self._choose_target()
        while True:
            try:
                turn = await self._try(target)
                return await self._heard(target, turn)
            except (ProviderError, StreamError) as error:
                target = await self._after(target, error)
            except asyncio.CancelledError:
                self._keep_partial("cancelled")
                raise

    async def _choose_target(self) -> Target:
        """Whose turn it is. Room is made for them; a switch by the user in the meantime counts."""
        router = self.session.router
        target = router.choose(self._now())
        while await self._make_room(target) and router.current is not target:
            target = router.choose(self._now())
        return target

    async def _make_room(self, target: Target) -> bool:
        """Shorten the conversation where it would fill too much of the target's window; whether it did."""
        compressor = self.session.compressor
        if not compressor.due(target):
            return False
        await compressor.make_room(self.emit, target)
        return True

    async def _try(self, target: Target) -> ModelTurn:
        self.tried.add(target.origin)
        check_rest(self.session.router, target, self._now())
        attempt = await self._fresh(target)
        self.session.debug("request", target=str(target.origin), request=attempt.request)
        turn = await attempt.run(self.emit)
        told = {"turn_key": turn.key, "stop": turn.stop, "usage": turn.usage}
        self.session.debug("reply", target=str(target.origin), status=attempt.status, **told)
        return turn

    async def _heard(self, target: Target, turn: ModelTurn) -> ModelTurn:
        """The whole reply: counted, put to the hooks, appended."""
        session = self.session
        session.router.worked(target)
        session.renewed.discard(target.origin)  # a token that runs out again is renewed again
        session.replied(turn)
        if self.attempt is None or not session.model_hooks.after:
            return session.history.append(turn)
        try:
            wanted = await session.model_hooks.heard(self.attempt.asked.request, turn)
            return session.history.append(turn) if wanted is turn else self._changed(turn, wanted)
        except HookError:
            self._take_back()
            raise

    def _changed(self, turn: ModelTurn, wanted: ModelTurn) -> ModelTurn:
        """What was shown is taken back; the reply as the hooks want it takes its place."""
        self._take_back()
        stop = None if turn.stop in ("end", "tool_calls") else turn.stop or None
        try:
            told = self.session.history.reply(turn.origin, wanted.blocks, stop=stop, usage=turn.usage)
        except UsageError as error:
            raise HookError(f"it made a reply that cannot stand: {error}", hook="after_model") from error
        for block in told.blocks:
            for event in _told(block):
                self.emit(event)
        self.emit(Done(told.stop or "end", turn.raw_stop))
        return told

    async def _fresh(self, target: Target) -> Attempt:
        """An attempt whose bytes were not refused before: the next step is taken until they differ."""
        session, history = self.session, self.session.history
        history.seal()
        while True:
            asked = await session.model_hooks.asked(target.origin, self.tools, self.options)
            attempt = Attempt(session, target, history.next_key(), asked)
            self.attempt = attempt
            if not self.session.recovery.was_refused(attempt.request.body):
                return attempt
            self._step(target, self._refusal or REFUSED_BEFORE)

    async def _after(self, target: Target, error: ProviderError | StreamError) -> Target:
        """What to do about a failure: the target to ask next, or the error itself."""
        if getattr(error, "code", "") != RESTING:
            self._note_failure(target, error)
        larger = target.facts.context if error.kind == "context_too_long" else 0
        other = self.session.router.other(self.tried, self._now(), larger_than=larger)
        step = self.budget.after(error, others=other is not None)
        if (
            error.kind == "auth"
            and self.session.keys.forget(target)
            and target.origin not in self.session.renewed
        ):
            self.session.renewed.add(target.origin)
            return self._again(target, "the key was renewed", 0)
        match step.action:
            case "retry":
                again = self._again(target, f"{error.kind}, again in {step.delay:.1f} s", step.delay)
                await asyncio.sleep(step.delay)
                return again
            case "switch" if other is not None:
                self._take_back()
                self.session.router.take(other)
                self.emit(Status("switched", f"{error.kind} at {target.origin}", other.origin))
                await self._make_room(other)
                return other
            case "recover":
                self._take_back()
                self._step(target, error)
                return target
            case "compress" if await self.session.compressor.squeeze(self.emit, target):
                self._take_back()
                return target
            case _:
                self._keep_partial("interrupted")
                raise error

    def _again(self, target: Target, why: str, delay: float) -> Target:
        self._take_back()
        self.emit(Status("retrying", why, target.origin))
        return target

    def _step(self, target: Target, error: ProviderError | StreamError) -> None:
        """Give up something optional; the error itself when nothing is left."""
        turns = self.session.history.turns
        step = self.session.recovery.step(target.origin, turns[-1].key if turns else "")
        if not step:
            self._keep_partial("interrupted")
            raise error
        if step == "summarise":
            self.session.compressor.digest()
        self.emit(Status("recovering", f"{step}, because the provider refused: {error}", target.origin))
        self.session.history.note("recovery", {"target": str(target.origin), "step": step})

    def _note_failure(self, target: Target, error: ProviderError | StreamError) -> None:
        session = self.session
        asked = 0.0 if error.kind == "quota" else getattr(error, "retry_after", None) or 0.0
        if not is_models_fault(error):
            session.router.failed(target, self._now(), asked)
        status = getattr(error, "status", None)
        session.debug(
            "failure", target=str(target.origin), kind=error.kind, status=status, message=str(error)
        )
        if not isinstance(error, ProviderError) or self.attempt is None or is_models_fault(error):
            return
        tools = self.attempt.asked.request.tools or self.attempt.request.report.calls
        session.telemetry.refused(target.origin, error.status, tools)
        if error.kind != "invalid_request":
            return
        self._refusal = error
        session.recovery.refused(self.attempt.request.body)
        error.report = diagnose(self.attempt.asked.history, str(target.origin), self.attempt.request)
        session.debug("refused", target=str(target.origin), diagnosis=error.report)

    def _take_back(self) -> None:
        """Whatever was shown of the broken reply is void; its key is spent."""
        broken, self.attempt = self.attempt, None
        if broken is not None and broken.shown:
            self.session.history.note("discarded", {"turn_key": broken.turn_key})
            self.emit(Discarded(broken.turn_key))

    def _keep_partial(self, status: Any) -> None:
        """The last word of a reply that will not be asked for again: what had arrived whole stays."""
        partial = self.attempt.partial if self.attempt is not None else None
        if partial is None or not partial.blocks:
            return
        partial, left_out = cut_turn(partial)
        if left_out:
            detail = f"{partial.key}: {left_out:,} characters"
            self.session.history.diagnostics.append(Diagnostic("history", "cut_reply", "", detail))
        self.session.history.append(partial)
        for call in partial.tool_calls:
            for event in settled(
                self.session.history, call, Outcome(status, synthetic=True, reason="did_not_run")
            ):
                self.emit(event)
        self.session.history.seal()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _told(block: Block) -> Iterator[StreamEvent]:
    """A block as a stream would have told of it."""
    match block:
        case Text(text):
            yield TextDelta(text)
        case Thinking(text, residue):
            yield ThinkingDelta(text)
            yield ThinkingEnd(residue)
        case ToolCall(call_id, name, arguments):
            yield ToolCallStart(call_id, name)
            yield ToolCallDelta(call_id, dumps(arguments))
            yield ToolCallComplete(call_id)
        case _:
            yield OpaqueBlock(block)
