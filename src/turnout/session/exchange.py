"""One reply, with everything that it may take: attempts, waiting, other targets, recovery.

Tools start only after a reply has ended as it should. So a broken reply can always be asked
for again: silently if nothing was shown, with `Discarded` otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from inspect import isawaitable
from time import gmtime, strftime
from typing import Any

from msgspec import Struct

from ..diagnostic import Diagnostic
from ..errors import HookError, ProviderError, StreamError, UsageError, callback_error
from ..history.cut_turn import cut_turn
from ..model import Block, ModelTurn, Origin, Outcome, Text, Thinking, ToolCall, ToolSpec
from ..plain import dumps
from ..providers.catalogue import end_date
from ..streaming.events import (
    Done,
    OpaqueBlock,
    StreamEvent,
    TextDelta,
    TextEnd,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from ..targets.target import Target
from ..world.ollama_models import with_served_facts
from ..world.ports import Chance
from .answer_faults import answer_fault
from .attempt import RESTING, Attempt, RequestPorts, check_rest
from .compress import Compressor
from .events import Discarded, Emit, Status
from .hooks import ModelHooks
from .retry import Budget, RetryPolicy, is_models_fault
from .settings import Routing
from .settle_call import settle_with_events

REFUSED_BEFORE = ProviderError("this request was refused before", kind="invalid_request")


class ReplyPorts(Struct):
    """What one reply needs of its session. `on_reply` is called with each reply that arrived whole."""

    request: RequestPorts
    compressor: Compressor
    hooks: ModelHooks
    system: str
    retry: RetryPolicy
    chance: Chance
    renewed_keys: set[Origin]
    told_ends: set[Origin]
    routing: Routing
    on_reply: Callable[[ModelTurn], None]
    debug: Callable[..., None]


class ReplyRules(Struct, frozen=True):
    """How a reply is taken. `keeps`: it is appended to the history. `replaces`: a reply that broke after a
    part of it was shown is taken back and asked for again; a listener that cannot take back says no."""

    keeps: bool = True
    replaces: bool = True


class Exchange:
    """The next reply of a session. Ends with a turn in the history, or with the error."""

    def __init__(
        self,
        ports: ReplyPorts,
        emit: Emit,
        tools: tuple[ToolSpec, ...],
        options: dict[str, Any],
        rules: ReplyRules | None = None,
    ) -> None:
        self._rules = rules or ReplyRules()
        self._ports = ports
        self._history = ports.request.history
        self._router = ports.request.router
        self._recovery = ports.request.recovery
        self._emit = emit
        self._tools = tools
        self._options = options
        self._budget = Budget(ports.retry, ports.chance)
        self._tried: set[Origin] = set()
        self._attempt: Attempt | None = None
        self._refusal: ProviderError | None = None

    async def reply(self) -> ModelTurn:
        """The turn, appended to the history."""
        target = await self._choose_target()
        while True:
            try:
                turn = await self._try_target(target)
                if (other := await self._target_after_answer(target, turn)) is not None:
                    target = other
                    continue
                return await self._take_reply(target, turn)
            except (ProviderError, StreamError) as error:
                target = await self._target_after(target, error)
            except asyncio.CancelledError:
                self._keep_partial("cancelled")
                raise

    async def _choose_target(self) -> Target:
        """The target of the next request, with room made for it. A switch by the user meanwhile counts."""
        target = await self._with_served_facts(self._router.choose(_now()))
        while await self._make_room(target) and self._router.current is not target:
            target = self._router.choose(_now())
        return target

    async def _with_served_facts(self, target: Target) -> Target:
        """The target with the window that its server gives the model: Ollama says it, once a session."""
        request = self._ports.request
        if target.api != "ollama" or target.facts.window or target.origin in self._router.asked_facts:
            return target
        self._router.asked_facts.add(target.origin)
        key = await request.keys.headers(target, required=False)
        known = await with_served_facts(target, request.transport, key)
        self._router.replace_target(target, known)
        return known

    async def _make_room(self, target: Target) -> bool:
        """Shorten the conversation where it would fill too much of the target's window; whether it did."""
        if not self._ports.compressor.due(target):
            return False
        await self._ports.compressor.make_room(self._emit, target)
        return True

    async def _try_target(self, target: Target) -> ModelTurn:
        self._tried.add(target.origin)
        self._tell_end_of_life(target)
        check_rest(self._router, target, _now())
        attempt = await self._next_attempt(target)
        self._ports.debug("request", target=str(target.origin), request=attempt.request)
        turn = await attempt.run(self._emit)
        about = {"turn_key": turn.key, "stop": turn.stop, "usage": turn.usage}
        self._ports.debug("reply", target=str(target.origin), status=attempt.status, **about)
        return turn

    async def _next_attempt(self, target: Target) -> Attempt:
        """An attempt whose bytes were not refused before: recovery steps are taken until they differ."""
        self._history.seal()
        for step in self._recovery.take_untold(target.origin):
            self._emit(Status("recovering", f"{step}, as learned from an earlier refusal", target.origin))
        while True:
            hooked = await self._ports.hooks.hooked_request(
                target.origin, self._ports.system, self._tools, self._options
            )
            attempt = Attempt(self._ports.request, target, self._turn_key(), hooked)
            self._attempt = attempt
            if not self._recovery.was_refused(attempt.request.body):
                return attempt
            self._take_recovery_step(target, self._refusal or REFUSED_BEFORE)

    def _turn_key(self) -> str:
        """The key of the reply. One that is not kept has the key that its turn has when it comes back."""
        if self._rules.keeps:
            return self._history.next_key()
        return f"{self._history.key}.{len(self._history.turns) + 1}"

    # A reply that arrived whole

    async def _take_reply(self, target: Target, turn: ModelTurn) -> ModelTurn:
        """Count the reply, put it to the hooks and append it."""
        self._router.note_success(target)
        self._recovery.note_success(target.origin, str(self._refusal or ""))
        self._ports.renewed_keys.discard(target.origin)  # a token that expires again is renewed again
        self._ports.on_reply(turn)
        if not self._rules.keeps:
            return turn
        if self._attempt is None or not self._ports.hooks.after:
            return self._history.append(turn)
        try:
            wanted = await self._ports.hooks.hooked_reply(self._attempt.hooked.request, turn)
            return self._history.append(turn) if wanted is turn else self._replace_reply(turn, wanted)
        except HookError:
            self._discard_attempt()
            raise

    def _replace_reply(self, turn: ModelTurn, wanted: ModelTurn) -> ModelTurn:
        """Take back what was shown; the reply as the hooks want it takes its place."""
        self._discard_attempt()
        stop = None if turn.stop in ("end", "tool_calls") else turn.stop or None
        try:
            written = self._history.reply(turn.origin, wanted.blocks, stop=stop, usage=turn.usage)
        except UsageError as error:
            raise HookError(
                f"it made a reply that is not valid: {error}; give back None, or a valid ModelTurn",
                hook="after_model",
            ) from error
        for block in written.blocks:
            for event in _events_of(block):
                self._emit(event)
        self._emit(Done(written.stop or "end", turn.raw_stop, written.usage, written.residue))
        return written

    # A failure

    async def _target_after(self, target: Target, error: ProviderError | StreamError) -> Target:
        """The target to ask after a failure; raises the error where nothing is left to try."""
        if getattr(error, "code", "") != RESTING:
            self._note_failure(target, error)
        if not self._rules.replaces and self._attempt is not None and self._attempt.shown:
            self._keep_partial("interrupted")
            raise error
        larger = target.facts.context if error.kind == "context_too_long" else 0
        other = self._router.other(self._tried, _now(), larger_than=larger)
        step = self._budget.after(error, others=other is not None, elsewhere=self._ports.routing.on)
        if error.kind == "auth" and self._renew_key(target):
            return self._retry(target, "the key was renewed")
        match step.action:
            case "retry":
                again = self._retry(target, f"{error.kind}, again in {step.delay:.1f} s")
                await asyncio.sleep(step.delay)
                return again
            case "switch" if other is not None:
                return await self._switch_target(target, other, error.kind)
            case "recover":
                self._discard_attempt()
                self._take_recovery_step(target, error)
                return target
            case "compress" if self._rules.keeps and await self._ports.compressor.squeeze(self._emit, target):
                self._discard_attempt()
                return target
            case _:
                self._keep_partial("interrupted")
                raise error

    async def _target_after_answer(self, target: Target, turn: ModelTurn) -> Target | None:
        """The target to ask in place of one whose answer is not wanted; None where the answer stands."""
        why = await self._fault_of(turn)
        other = self._router.other(self._tried, _now()) if why else None
        if not why or other is None:
            return None
        self._router.note_success(target)  # the server is fine
        self._ports.on_reply(turn)  # what it cost is spent
        return await self._switch_target(target, other, why)

    async def _fault_of(self, turn: ModelTurn) -> str:
        """Why this reply should be asked for elsewhere, in a word; "" where it is fine."""
        routing = self._ports.routing
        fault = answer_fault(turn) if routing.on else None
        if fault is not None and fault in routing.on:
            return fault
        if routing.judge is None:
            return ""
        try:
            verdict = routing.judge(turn)
            verdict = await verdict if isawaitable(verdict) else verdict
        except Exception as error:
            self._discard_attempt()
            raise callback_error("judge", error) from error
        return verdict if isinstance(verdict, str) else "judged" if verdict else ""

    async def _switch_target(self, target: Target, other: Target, why: str) -> Target:
        self._discard_attempt()
        self._router.take(other)
        self._ports.request.telemetry.count_switch(target.origin, other.origin, why)
        self._emit(Status("switched", f"{why} at {target.origin}", other.origin))
        await self._make_room(other)
        return other

    def _tell_end_of_life(self, target: Target) -> None:
        """Say once in a session that a model is past the day on which its maker ends it."""
        day = end_date(target.origin.provider, target.model)
        today = strftime("%Y-%m-%d", gmtime(self._ports.request.wall_clock()))
        if not day or today <= day or target.origin in self._ports.told_ends:
            return
        self._ports.told_ends.add(target.origin)
        words = f"{target.origin} reached its end of life on {day}; choose a current model"
        self._emit(Status("end_of_life", words, target.origin))

    def _renew_key(self, target: Target) -> bool:
        """Forget the key of a target, once: whether its source may give a new one."""
        may_renew = self._ports.request.keys.forget(target)
        if not may_renew or target.origin in self._ports.renewed_keys:
            return False
        self._ports.renewed_keys.add(target.origin)
        return True

    def _retry(self, target: Target, why: str) -> Target:
        self._discard_attempt()
        self._emit(Status("retrying", why, target.origin))
        return target

    def _take_recovery_step(self, target: Target, error: ProviderError | StreamError) -> None:
        """Give up something optional; raise the error when nothing is left."""
        turns = self._history.turns
        step = self._recovery.step(target.origin, turns[-1].key if turns else "")
        if not step:
            self._keep_partial("interrupted")
            raise error
        if step == "summarise":
            self._ports.compressor.digest()
        self._emit(Status("recovering", f"{step}, because the provider refused: {error}", target.origin))
        if self._rules.keeps:
            self._history.note("recovery", {"target": str(target.origin), "step": step})

    def _note_failure(self, target: Target, error: ProviderError | StreamError) -> None:
        rest = 0.0 if error.kind == "quota" else getattr(error, "retry_after", None) or 0.0
        if not is_models_fault(error):
            self._router.note_failure(target, _now(), rest)
        status, name = getattr(error, "status", None), str(target.origin)
        self._ports.debug("failure", target=name, kind=error.kind, status=status, message=str(error))
        if not isinstance(error, ProviderError) or self._attempt is None or is_models_fault(error):
            return
        tools = self._attempt.hooked.request.tools or self._attempt.request.report.calls
        self._ports.request.telemetry.count_refusal(target.origin, error.status, tools)
        if error.kind != "invalid_request":
            return
        from ..targets.diagnose import (
            diagnose,
        )  # it loads every checker: 50 modules that a reply does not need

        self._refusal = error
        self._recovery.note_refused(self._attempt.request.body)
        error.report = diagnose(self._attempt.hooked.history, name, self._attempt.request)
        self._ports.debug("refused", target=name, diagnosis=error.report)

    def _discard_attempt(self) -> None:
        """What was shown of the broken reply is void; its key is not used again."""
        broken, self._attempt = self._attempt, None
        if broken is not None and broken.shown:
            self._history.note("discarded", {"turn_key": broken.turn_key})
            self._emit(Discarded(broken.turn_key))

    def _keep_partial(self, status: Any) -> None:
        """Keep what had arrived whole of a reply that is not asked for again."""
        partial = self._attempt.partial if self._attempt is not None else None
        if partial is None or not partial.blocks or not self._rules.keeps:
            return
        partial, left_out = cut_turn(partial)
        if left_out:
            detail = f"{partial.key}: {left_out:,} characters"
            self._history.diagnostics.append(Diagnostic("history", "cut_reply", "", detail))
        self._history.append(partial)
        outcome = Outcome(status, synthetic=True, reason="did_not_run")
        for call in partial.tool_calls:
            for event in settle_with_events(self._history, call, outcome):
                self._emit(event)
        self._history.seal()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _events_of(block: Block) -> Iterator[StreamEvent]:
    """The events that a stream would have had for a block."""
    match block:
        case Text(text, residue):
            yield TextDelta(text)
            yield TextEnd(residue)
        case Thinking(text, residue):
            yield ThinkingDelta(text)
            yield ThinkingEnd(residue)
        case ToolCall(call_id, name, arguments, residue=residue):
            yield ToolCallStart(call_id, name)
            yield ToolCallDelta(call_id, dumps(arguments))
            yield ToolCallComplete(call_id, residue)
        case _:
            yield OpaqueBlock(block)
