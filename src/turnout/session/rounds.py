"""The round: reply, tools, and again, until the model has said its last word.

Interactive, one-shot and subagent use all come through here; `run` drives it in a task of
its own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..errors import LimitReached
from ..model import Block, ModelTurn, Origin, Outcome, Text
from ..providers.cost import total_usage
from ..streaming.events import TextDelta
from ..telemetry.counts import Operation
from ..tools.declare.registry import FoundTool
from ..tools.schedule.batch import BatchSummary
from .events import Complete, Status, Terminal
from .exchange import Exchange
from .guards import Verdict, WatchedCall
from .run import Emit, settled

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


class Rounds:
    """One prompt, from the user's words to the model's last."""

    def __init__(self, session: Session, prompt: tuple[Block, ...], options: dict[str, Any]) -> None:
        self.session = session
        self.options = options
        self.turns: list[ModelTurn] = []
        self._prompt = prompt

    async def __call__(self, emit: Emit) -> Terminal:
        self.emit = emit
        session = self.session
        run = Operation("invoke_agent", session.target.origin, session.history.key)
        with session.telemetry.measured(run):
            try:
                complete = await self._complete_in_time()
            finally:  # a run belongs to whoever answered last, also when it failed after that
                run.origin = self.turns[-1].origin if self.turns else run.origin
            run.usage = complete.usage
            return complete

    async def _complete_in_time(self) -> Complete:
        """The whole run, within the time that the limits give it."""
        limit = self.session.limits.time
        try:
            async with asyncio.timeout(limit) as timer:
                return await self._complete()
        except TimeoutError:
            if not timer.expired():
                raise
            raise LimitReached(f"the limit of {limit:g} s for one run is used up") from None

    async def _complete(self) -> Complete:
        history = self.session.history
        self.session.check_prices()  # before the prompt is on record: this run does not start
        self.session.guard.start_over()
        if not self._prompt and history.open_turn is not None and history.open_calls:
            await self._tools(history.open_turn)  # a crash came before them
        self._deliver()  # what was queued since the last run was said before this
        if self._prompt:
            history.user(self._prompt)
        last = await self._rounds()
        used = total_usage(turn.usage for turn in self.turns)
        return Complete(last, used, self.session.cost_of(self.turns))

    async def _rounds(self) -> ModelTurn:
        limits, pauses = self.session.limits, 0
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
        session.check_limits()
        exchange = Exchange(session, self.emit, session.tool_specs(), {**self.options, **options})
        turn = await exchange.reply()
        self.turns.append(turn)
        return turn

    async def _tools(self, turn: ModelTurn) -> Verdict:
        """Run the turn's calls as one batch; say whether the model goes round in circles."""
        session = self.session
        invalid: set[str] = set()

        def count(summary: BatchSummary, wrong: frozenset[str]) -> None:  # also of a batch that was cancelled
            session.telemetry.batch(turn.origin, summary)
            self.emit(Status("tools", _counted(summary)))
            invalid.update(wrong)

        await session.scheduler.run(turn.tool_calls, self.emit, count)
        return session.guard.watch(self._watched_calls(turn, invalid))

    def _watched_calls(self, turn: ModelTurn, invalid: set[str]) -> list[WatchedCall]:
        """The turn's calls and what came of them, as the guard looks at them."""
        registry, history = self.session.scheduler.registry, self.session.history
        watched = []
        for call in turn.tool_calls:
            if (outcome := history.interaction(call.id).outcome) is not None:
                found = registry.find(call.name)
                polls = isinstance(found, FoundTool) and found.tool.polls
                watched.append(WatchedCall(call, outcome, call.id in invalid, polls))
        return watched

    def _deliver(self) -> bool:
        """Append what the user said meanwhile, each as a turn of its own."""
        waiting = self.session.take_queued()
        for blocks in waiting:
            self.session.history.user(blocks)
        if waiting:
            self.session.guard.start_over()
            self.emit(Status("queued", f"{len(waiting)} delivered"))
        return bool(waiting)

    async def _last_word(self, why: str) -> ModelTurn:
        """One more request with the tools switched off; in the end our own words."""
        self.session.telemetry.ran_out(self.turns[-1].origin)
        self.emit(Status("guard", why))
        turn = await self._reply(tool_choice="none")
        if not turn.tool_calls and turn.text.strip():
            return turn
        refusal = Outcome("error", (Text(SWITCHED_OFF),), reason="did_not_run")
        for call in turn.tool_calls:
            for event in settled(self.session.history, call, refusal):
                self.emit(event)
        self.emit(TextDelta(ENOUGH[why]))
        return self.session.history.reply(OURSELVES, Text(ENOUGH[why]))


def _counted(summary: Any) -> str:
    fields = ("scheduled", "completed", "errors", "cancelled", "denied", "interrupted")
    return ", ".join(f"{getattr(summary, name)} {name}" for name in fields if getattr(summary, name))
