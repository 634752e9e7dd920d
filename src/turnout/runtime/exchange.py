"""Getting one reply, whatever it takes: attempts, waiting, other targets, recovery.

Tools start only when a reply has ended as it should, so a broken reply is always safe to
ask for again: silently before anything was shown, with `Discarded` after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import ProviderError, StreamError
from ..model import ModelTurn, Origin, Outcome, ToolSpec
from ..providers import Target
from .attempt import Attempt
from .diagnose import diagnose
from .events import Discarded, SessionEvent, Status
from .retry import Budget

if TYPE_CHECKING:
    from .session import Session

Emit = Callable[[SessionEvent], None]


REFUSED_BEFORE = ProviderError("this request was refused before", kind="invalid_request")
RESTING = "resting"


class Exchange:
    """The next reply of a session. Ends with a turn in the history, or with the reason why not."""

    def __init__(
        self, session: Session, emit: Emit, tools: tuple[ToolSpec, ...], options: dict[str, Any] | None = None
    ) -> None:
        self.session = session
        self.emit = emit
        self.tools = tools
        self.options = options or {}
        self.budget = Budget(session.retry, session.chance)
        self.tried: set[Origin] = set()
        self.attempt: Attempt | None = None
        self._refusal: ProviderError | None = None

    async def reply(self) -> ModelTurn:
        """The turn, appended to the history."""
        target = self.session.router.choose(self._now())
        while True:
            try:
                turn = await self._try(target)
            except (ProviderError, StreamError) as error:
                target = await self._after(target, error)
            except asyncio.CancelledError:
                self._keep_partial("cancelled")
                raise
            else:
                self.session.router.worked(target)
                return self.session.history.append(turn)

    async def _try(self, target: Target) -> ModelTurn:
        self.tried.add(target.origin)
        if left := self.session.router.asks_for(target, self._now()):
            raise _resting(target, left)
        attempt = self._fresh(target)
        self.session.debug("request", target=str(target.origin), request=attempt.request)
        turn = await attempt.run(self.emit)
        self.session.debug(
            "reply", target=str(target.origin), turn_key=turn.key, stop=turn.stop, usage=turn.usage
        )
        return turn

    def _fresh(self, target: Target) -> Attempt:
        """An attempt whose bytes were not refused before: the next step is taken until they differ."""
        history = self.session.history
        history.seal()
        while True:
            attempt = Attempt(self.session, target, history.next_key(), self.tools, self.options)
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
                return other
            case "recover":
                self._take_back()
                self._step(target, error)
                return target
            case "compress" if await self.session.make_room(target, self.emit):
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
            self.session.shrink()
        self.emit(Status("recovering", f"{step}, because the provider refused: {error}", target.origin))
        self.session.history.note("recovery", {"target": str(target.origin), "step": step})

    def _note_failure(self, target: Target, error: ProviderError | StreamError) -> None:
        session = self.session
        asked = 0.0 if error.kind == "quota" else getattr(error, "retry_after", None) or 0.0
        session.router.failed(target, self._now(), asked)
        status = getattr(error, "status", None)
        session.debug(
            "failure", target=str(target.origin), kind=error.kind, status=status, message=str(error)
        )
        if error.kind != "invalid_request" or not isinstance(error, ProviderError) or self.attempt is None:
            return
        self._refusal = error
        session.recovery.refused(self.attempt.request.body)
        session.telemetry.refused(
            target.origin, error.status, self.tools or self.attempt.request.report.calls
        )
        error.report = diagnose(session.history, str(target.origin), self.attempt.request.body)

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
        self.session.history.append(partial)
        for call in partial.tool_calls:
            self.session.history.settle(call.id, Outcome(status, synthetic=True, reason="did_not_run"))
        self.session.history.seal()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _resting(target: Target, left: float) -> ProviderError:
    return ProviderError(
        f"{target.origin} asked to be left alone for another {left:.0f} s",
        kind="rate_limit",
        retry_after=left,
        code=RESTING,
    )
