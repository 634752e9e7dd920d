"""The rounds of one prompt: a reply, its tool calls, and again, until a reply without calls.

Interactive, one-shot and subagent use all come through here; `run` drives it in a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from ..errors import LimitReached, UsageError
from ..history.log import History
from ..history.waiting import PROMPT_KEY, known_prompt, waiting_calls
from ..model import Block, ModelTurn, Origin, Outcome, Text, ToolSpec
from ..providers.cost import cost_of, total_usage
from ..streaming.events import TextDelta
from ..telemetry.counts import Operation, Telemetry
from ..tools.declare.registry import FoundTool
from ..tools.schedule.batch import BatchSummary
from ..tools.schedule.scheduler import ToolScheduler
from .events import Cancelled, Complete, Emit, Status, Terminal, Waiting
from .exchange import Exchange, ReplyPorts
from .guards import Guard, Verdict, WatchedCall
from .limits import Limits
from .routing import Router
from .settle_call import settle_with_events

OURSELVES = Origin("turnout", "", "")
ENOUGH = {
    "rounds": "I stopped here: the limit on rounds of tool calls was reached.",
    "corrections": "I stopped here: the tool calls kept having invalid arguments.",
    "identical": "I stopped here: the same tool call was repeated with the same result.",
    "alternating": "I stopped here: the same tool calls were repeated in a circle.",
}
SWITCHED_OFF = "Tools are switched off for this answer; the call did not run. Answer with what you know."


class RoundPorts(Struct):
    """What the rounds of a prompt need of their session.

    `check_prices` and `check_limits` raise where the run must not start, or must not continue.
    """

    history: History
    router: Router
    scheduler: ToolScheduler
    telemetry: Telemetry
    limits: Limits
    guard: Guard
    check_prices: Callable[[], None]
    check_limits: Callable[[], None]
    take_queued: Callable[[], list[tuple[Block, ...]]]
    take_answers: Callable[[], Awaitable[None]]
    tool_specs: Callable[[], tuple[ToolSpec, ...]]
    reply: ReplyPorts


class Rounds:
    """One prompt, from the user's words to the model's last reply."""

    def __init__(
        self, ports: RoundPorts, prompt: tuple[Block, ...], options: dict[str, Any], key: str = ""
    ) -> None:
        self._ports = ports
        self._history = ports.history
        self._prompt = prompt
        self._key = key  # a prompt with a key is said once
        self._options = options
        self._turns: list[ModelTurn] = []

    async def __call__(self, emit: Emit) -> Terminal:
        self._emit = emit
        run = Operation("invoke_agent", self._ports.router.current.origin, self._history.key)
        with self._ports.telemetry.measure(run):
            try:
                complete = await self._complete_in_time()
            finally:  # a run belongs to the model that answered last, also when it failed after that
                run.origin = self._turns[-1].origin if self._turns else run.origin
            run.usage = total_usage(turn.usage for turn in self._turns)
            return complete

    async def _complete_in_time(self) -> Terminal:
        """The whole run, within the time that the limits give it."""
        limit = self._ports.limits.time
        try:
            async with asyncio.timeout(limit) as timer:
                return await self._complete_once()
        except TimeoutError:
            if not timer.expired():
                raise
            raise LimitReached(f"the limit of {limit:g} s for one run is used up") from None

    async def _complete_once(self) -> Terminal:
        """Complete the prompt; one whose key is known goes on, or gives what came of it."""
        known = known_prompt(self._history, self._key) if self._key else None
        if known is None:
            return await self._complete_prompt()
        self._prompt = ()
        if known.is_cancelled:
            return Cancelled(f"the prompt {self._key} was cancelled")
        if not known.is_over:
            return await self._complete_prompt()
        if not known.turns:
            raise UsageError(f"the prompt {self._key} was said before and got no answer; use another key")
        used = total_usage(turn.usage for turn in known.turns)
        return Complete(known.turns[-1], used, cost_of(known.turns))

    async def _complete_prompt(self) -> Terminal:
        history = self._history
        self._ports.check_prices()  # before the prompt is on record: this run does not start
        self._ports.guard.start_over()
        if not self._prompt:
            await self._ports.take_answers()
        if not self._prompt and history.open_turn is not None and history.open_calls:
            await self._run_tools(history.open_turn)  # a crash came before them, or they waited
            if waiting := waiting_calls(history):
                return Waiting(waiting)
        self._append_queued()  # what was queued since the last run was said before this
        if self._prompt:
            self._say_prompt()
        last = await self._run_rounds()
        if isinstance(last, Waiting):
            return last
        used = total_usage(turn.usage for turn in self._turns)
        return Complete(last, used, cost_of(self._turns))

    def _say_prompt(self) -> None:
        turn = self._history.user(self._prompt)
        if self._key:  # one commit with the prompt: neither is there without the other
            self._history.note(PROMPT_KEY, {"key": self._key, "turn": turn.key})

    async def _run_rounds(self) -> ModelTurn | Waiting:
        limits, pauses = self._ports.limits, 0
        for _ in range(limits.rounds):
            turn = await self._next_reply()
            if turn.stop == "paused" and pauses < limits.pauses:
                pauses += 1
                continue
            if not turn.tool_calls:
                if not self._append_queued():
                    return turn
                continue
            verdict = await self._run_tools(turn)
            if waiting := waiting_calls(self._history):
                return Waiting(waiting)
            self._append_queued()
            if verdict:
                return await self._last_reply(verdict)
        return await self._last_reply("rounds")

    async def _next_reply(self, **options: Any) -> ModelTurn:
        ports = self._ports
        ports.check_limits()
        exchange = Exchange(ports.reply, self._emit, ports.tool_specs(), {**self._options, **options})
        turn = await exchange.reply()
        self._turns.append(turn)
        return turn

    async def _run_tools(self, turn: ModelTurn) -> Verdict:
        """Run the turn's calls as one batch; say whether the model repeats itself."""
        invalid: set[str] = set()

        def count_batch(summary: BatchSummary, wrong: frozenset[str]) -> None:  # also of a cancelled batch
            self._ports.telemetry.count_batch(turn.origin, summary)
            self._emit(Status("tools", _counts_of(summary)))
            invalid.update(wrong)

        await self._ports.scheduler.run(turn.tool_calls, self._emit, count_batch)
        return self._ports.guard.watch(self._watched_calls(turn, invalid))

    def _watched_calls(self, turn: ModelTurn, invalid: set[str]) -> list[WatchedCall]:
        """The turn's calls with their outcomes, as the guard looks at them."""
        registry, watched = self._ports.scheduler.registry, []
        for call in turn.tool_calls:
            if (outcome := self._history.interaction(call.id).outcome) is not None:
                found = registry.find(call.name)
                polls = isinstance(found, FoundTool) and found.tool.polls
                watched.append(WatchedCall(call, outcome, call.id in invalid, polls))
        return watched

    def _append_queued(self) -> bool:
        """Append what the user said meanwhile, each message as its own turn; whether there was any."""
        waiting = self._ports.take_queued()
        for blocks in waiting:
            self._history.user(blocks)
        if waiting:
            self._ports.guard.start_over()
            self._emit(Status("queued", f"{len(waiting)} delivered"))
        return bool(waiting)

    async def _last_reply(self, why: str) -> ModelTurn:
        """One more request, with the tools switched off; then our own words if the model has none."""
        self._ports.telemetry.count_stopped_loop(self._turns[-1].origin)
        self._emit(Status("guard", why))
        turn = await self._next_reply(tool_choice="none")
        if not turn.tool_calls and turn.text.strip():
            return turn
        refusal = Outcome("error", (Text(SWITCHED_OFF),), reason="did_not_run")
        for call in turn.tool_calls:
            for event in settle_with_events(self._history, call, refusal):
                self._emit(event)
        self._emit(TextDelta(ENOUGH[why]))
        return self._history.reply(OURSELVES, Text(ENOUGH[why]))


def _counts_of(summary: BatchSummary) -> str:
    fields = ("scheduled", "completed", "errors", "cancelled", "denied", "interrupted")
    return ", ".join(f"{getattr(summary, name)} {name}" for name in fields if getattr(summary, name))
