"""The round: reply, tools, and again, until the model has said its last word.

Interactive, one-shot and subagent use all come through here. The loop runs in a task of its
own; leaving its events early is a cancel, and the history is valid afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from ..errors import LimitReached, StoreError, TurnoutError
from ..model import Block, ModelTurn, Origin, Outcome, Text, Usage
from ..streaming.events import TextDelta
from .events import Cancelled, Complete, Failed, SessionEvent, Status, Terminal
from .exchange import Exchange
from .guards import Verdict

if TYPE_CHECKING:
    from .session import Session

OURSELVES = Origin("turnout", "", "")
ENOUGH = {
    "rounds": "I stopped here: the limit on rounds of tool calls was reached.",
    "corrections": "I stopped here: the tool calls kept having invalid arguments.",
    "identical": "I stopped here: the same tool call was repeated with the same result.",
    "alternating": "I stopped here: the same tool calls were repeated in a circle.",
}
SWITCHED_OFF = "Tools are switched off for this answer; the call did not run. Answer with what you know."


class Run:
    """One prompt, from the user's words to the model's last."""

    def __init__(self, session: Session, prompt: tuple[Block, ...], options: dict[str, Any]) -> None:
        self.session = session
        self.options = options
        self._prompt = prompt
        self._events: asyncio.Queue[SessionEvent] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.turns: list[ModelTurn] = []

    async def events(self) -> AsyncIterator[SessionEvent]:
        """Everything that happens, the last of it terminal."""
        self.session.begin(self)
        self._task = asyncio.ensure_future(self._drive())
        try:
            while True:
                event = self._kept(await self._events.get())
                if isinstance(event, Terminal):
                    await self._over()  # whoever leaves at this event leaves a session that is free again
                yield event
                if isinstance(event, Terminal):
                    return
        finally:
            await self._over()

    async def _over(self) -> None:
        await self._stop()
        self.session.end(self)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _stop(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    def emit(self, event: SessionEvent) -> None:
        self._events.put_nowait(event)

    def _kept(self, event: SessionEvent) -> SessionEvent:
        """What is shown is in the store first. A store that cannot keep it ends the run."""
        try:
            self.session.history.commit()
        except StoreError as error:
            return event if isinstance(event, Failed) else Failed(error)
        return event

    async def _drive(self) -> None:
        terminal: Terminal
        try:
            terminal = await self._conduct()
        except asyncio.CancelledError:
            terminal = Cancelled()
        except TurnoutError as error:
            terminal = Failed(error)
        except Exception as error:  # a fault of ours must end the run too, and say what it was
            terminal = Failed(TurnoutError(f"{type(error).__name__}: {error}"))
            terminal.error.__cause__ = error
        self._close_calls(terminal)
        self.emit(terminal)

    def _close_calls(self, terminal: Terminal) -> None:
        status: Any = "cancelled" if isinstance(terminal, Cancelled) else "interrupted"
        for open_call in self.session.history.open_calls:
            reason = "stopped" if open_call.started else "did_not_run"
            self.session.history.settle(open_call.call.id, Outcome(status, synthetic=True, reason=reason))

    async def _conduct(self) -> Terminal:
        history = self.session.history
        if self._prompt:
            history.user(self._prompt)
            self.session.guard.new_prompt()
        elif history.open_turn is not None and history.open_calls:
            await self._tools(history.open_turn)  # a crash came before them
        last = await self._rounds()
        used = total_usage(turn.usage for turn in self.turns)
        return Complete(last, used, self.session.cost_of(self.turns))

    async def _rounds(self) -> ModelTurn:
        limits, pauses = self.session.guard.limits, 0
        for _ in range(limits.rounds):
            turn = await self._reply()
            if turn.stop == "paused" and pauses < limits.pauses:
                pauses += 1
                continue
            if not turn.tool_calls:
                if not self._deliver():
                    return turn
                continue
            verdict = await self._tools(turn)
            self._deliver()
            if verdict:
                return await self._last_word(verdict)
        return await self._last_word("rounds")

    async def _reply(self, **options: Any) -> ModelTurn:
        session = self.session
        self._check_limits()
        await session.make_room_early(self.emit)
        exchange = Exchange(session, self.emit, session.tool_specs(), {**self.options, **options})
        turn = await exchange.reply()
        self.turns.append(turn)
        session.replied(turn)
        return turn

    def _check_limits(self) -> None:
        if (reached := self.session.limit_reached()) is not None:
            raise LimitReached(reached)

    async def _tools(self, turn: ModelTurn) -> Verdict:
        """Run the turn's calls as one batch; say whether the model goes round in circles."""
        session = self.session
        summary = await session.scheduler.run(turn.tool_calls, self.emit)
        session.batch_done(turn.origin, summary)
        self.emit(Status("tools", _counted(summary)))
        done = [(call, session.history.interaction(call.id).outcome) for call in turn.tool_calls]
        return session.guard.watch([(call, outcome) for call, outcome in done if outcome], summary.invalid)

    def _deliver(self) -> bool:
        """Append what the user said meanwhile, each as a turn of its own."""
        waiting = self.session.take_queued()
        for blocks in waiting:
            self.session.history.user(blocks)
        if waiting:
            self.session.guard.new_prompt()
            self.emit(Status("queued", f"{len(waiting)} delivered"))
        return bool(waiting)

    async def _last_word(self, why: str) -> ModelTurn:
        """One more request with the tools switched off; in the end our own words."""
        self.session.telemetry.ran_out(self.session.router.current.origin)
        self.emit(Status("guard", why))
        turn = await self._reply(tool_choice="none")
        if not turn.tool_calls and turn.text.strip():
            return turn
        for call in turn.tool_calls:
            self.session.history.settle(
                call.id, Outcome("error", (Text(SWITCHED_OFF),), reason="did_not_run")
            )
        self.emit(TextDelta(ENOUGH[why]))
        return self.session.history.reply(OURSELVES, Text(ENOUGH[why]))


def total_usage(usages: Any) -> Usage:
    """All of it together; None where nobody counted."""
    known = [usage for usage in usages if usage is not None]

    def add(name: str) -> int | None:
        counts = [count for usage in known if (count := getattr(usage, name)) is not None]
        return sum(counts) if counts else None

    return Usage(**{name: add(name) for name in Usage.__struct_fields__})


def _counted(summary: Any) -> str:
    fields = ("scheduled", "completed", "errors", "cancelled", "denied", "interrupted")
    return ", ".join(f"{getattr(summary, name)} {name}" for name in fields if getattr(summary, name))
