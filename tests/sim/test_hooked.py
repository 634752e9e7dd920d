"""Whole sessions whose hooks look, change, refuse, raise, hang and talk nonsense, under every other fault."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.corpus import ROTATION, SOAK
from tests.sim.fates import Fates
from tests.sim.world import World

from turnout import Hooks, ModelRequest, Outcome, Refuse, Session
from turnout.model import ModelTurn, Text, Thinking, ToolCall, UserTurn
from turnout.session.hooks import ModelHooks, tool_hooks

SEEDS = 600


class Hooked(World):
    """A world whose session asks hooks about everything."""

    meddled = True

    def _session(self) -> Session:
        session = super()._session()
        self.whims = self.fates.dice("hooks")
        hooks = (
            Hooks(self._before_model, self._after_model, self._before_tool, self._after_tool, timeout=20),
        )
        session.hooks = hooks
        session.model_hooks = ModelHooks(hooks, session.history, session.scheduler.cancel_task)
        session.tool_ports["hooks"] = session.scheduler.hooks = tool_hooks(hooks)
        return session

    async def _whim(self) -> Any:
        """What a hook does besides its work; "change" where it does it."""
        whim = self.whims.choice(
            ["", "", "", "", "change", "change", "change", "slow", "no", "raise", "hang", "odd"]
        )
        if self.fates.calm and whim not in ("", "change"):
            return ""
        match whim:
            case "slow":
                await asyncio.sleep(self.whims.choice([0, 3]))
            case "raise":
                raise self.whims.choice([ValueError("whim"), asyncio.CancelledError(), SystemExit(2)])
            case "hang":
                await asyncio.sleep(10**6)
        return whim

    async def _before_model(self, request: ModelRequest) -> Any:
        whim = await self._whim()
        if whim in ("no", "odd"):
            return Refuse("not this") if whim == "no" else object()
        if whim != "change":
            return None
        dice = self.whims
        match dice.choice(["words", "outcomes", "drop", "add", "tools", "system"]):
            case "words":
                turns = tuple(replace(turn, blocks=tuple(map(_other, turn.blocks))) for turn in request.turns)
                return replace(request, turns=turns)
            case "outcomes":
                outcomes = {call_id: Outcome("complete", "hidden") for call_id in request.outcomes}
                return replace(request, outcomes=dict(list(outcomes.items())[dice.randrange(2) :]))
            case "drop":
                kept = tuple(turn for turn in request.turns[:-1] if dice.random() < 0.7)
                return replace(request, turns=(*kept, *request.turns[-1:]))
            case "add":
                return replace(request, turns=(*request.turns, UserTurn("added", (Text("Mind the gap."),))))
            case "tools":
                return replace(request, tools=request.tools[: dice.randrange(3)])
        return replace(request, system="Be kind.", summary=request.summary.upper())

    async def _after_model(self, request: ModelRequest, turn: ModelTurn) -> Any:
        whim = await self._whim()
        if whim in ("no", "odd"):
            return Refuse("not that") if whim == "no" else 7
        if whim != "change":
            return None
        blocks = tuple(_other(block) for block in turn.blocks if self.whims.random() < 0.9)
        return replace(turn, blocks=blocks or (Text("Nothing."),))

    async def _before_tool(self, call: ToolCall) -> Any:
        whim = await self._whim()
        if whim in ("no", "odd"):
            return Refuse("not here") if whim == "no" else replace(call, arguments={"odd": 1})
        return replace(call, arguments={**call.arguments, "n": 42}) if whim == "change" else None

    async def _after_tool(self, call: ToolCall, outcome: Outcome) -> Any:
        whim = await self._whim()
        if whim in ("no", "odd"):
            return Refuse("not for you") if whim == "no" else Outcome("denied", "never")
        return replace(outcome, content=(Text("changed"),)) if whim == "change" else None


def _other(block: Any) -> Any:
    if isinstance(block, Text | Thinking):
        return replace(block, text=block.text.swapcase())
    return (
        replace(block, arguments={**block.arguments, "more": True}) if isinstance(block, ToolCall) else block
    )


@pytest.mark.parametrize("shard", range(2))
def test_whatever_hooks_do_a_session_stays_whole(shard: int) -> None:
    """Sound at every step, readable for every provider, never a request that one would refuse, no hang."""
    mine = range(shard, SEEDS, 2)
    for seed in mine if SOAK else mine[ROTATION % 10 :: 10]:
        try:
            assert Hooked(seed).run().log
        except BaseException as error:
            error.add_note(f"seed {seed}, with {[kind for kind, rate in Fates(seed).rates.items() if rate]}")
            raise
