"""A session that changes provider at every turn, through every family: nobody ever answers 400.

The models think, speak, call several tools at once, and run tools of their own; the user
cancels in mid stream and in mid batch, refuses approvals, and queues messages. What each
provider would refuse is refused (`simulate`), so an empty list of refusals says something.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.corpus import ROTATION, SOAK
from tests.laws.targets import NAMES
from tests.session.talk import TERMINAL, session, slow, virtually, weather
from tests.sim.world import EVERY_KEY

from turnout.history.check import violations
from turnout.model import ModelTurn
from turnout.session.events import Cancelled, Complete
from turnout.session.session import Session
from turnout.simulate import Call, Ends, Hosted, Say, SimulatedRequest, Think
from turnout.streaming.events import TextDelta, ThinkingDelta
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision

SEEDS = range(100) if SOAK else range(ROTATION * 3, ROTATION * 3 + 3)
MOMENTS: tuple[Any, ...] = (TextDelta, ThinkingDelta, ToolResult)


@tool(risk="write")
async def change(path: str, text: str = "") -> str:
    """Change a file.

    Args:
        path: Which.
        text: To what.
    """
    return f"{path} is {text!r} now"


@tool(risk="read")
async def fail(how: str = "") -> str:
    """Fail."""
    raise ValueError(f"failed {how}")


class Talk:
    """One seed: a user with dice of their own, and a model with others."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(f"user {seed}")
        self.model = random.Random(f"model {seed}")
        self.cancelled: list[str] = []
        self.answered = 0
        self.session, self.transport = session(
            self.say,
            NAMES[0],
            tools=[weather, slow, change, fail],
            environment=EVERY_KEY,
            approver=self.approve,
        )

    def say(self, asked: SimulatedRequest) -> list[Any]:
        """Up to three rounds of calls, then words."""
        dice = self.model
        thinking = [Think(f"Thought {dice.randrange(99)}", hidden=dice.random() < 0.2)]
        hosted = [Hosted(arguments={"q": "x"}, result="found")] if dice.random() < 0.1 else []
        number = dice.choice([0, 1, 2, 5]) if asked.may_call and len(asked.results) < 6 else 0
        calls = [self._call() for _ in range(number)]
        text = [Say("Well, naïve 🙂 as I am, I say.")] if not calls or dice.random() < 0.5 else []
        ends = [Ends("length")] if dice.random() < 0.05 else []
        return [*(thinking if dice.random() < 0.6 else ()), *hosted, *text, *calls, *ends]

    def _call(self) -> Call:
        dice = self.model
        return dice.choice(
            [
                Call("weather", {"city": f"city {dice.randrange(10**6)}"}),
                Call("weather", {}),
                Call("slow", {"seconds": dice.choice([0.1, 5])}),
                Call("change", {"path": f"f{dice.randrange(3)}", "text": str(dice.random())}),
                Call("fail", {"how": str(dice.random())}),
            ]
        )

    async def approve(self, request: ApprovalRequest) -> Decision:
        await asyncio.sleep(self.dice.choice([0, 1]))
        return request.no("not now") if self.dice.random() < 0.4 else request.once()

    async def walk(self) -> Session:
        places = list(NAMES)
        self.dice.shuffle(places)
        for number, place in enumerate(places):
            self.session.switch(place)
            await self.converse(f"Prompt {number}.")
            assert violations(self.session.history) == []
        await self.session.close()
        return self.session

    async def converse(self, prompt: str) -> None:
        """One run; a third of them is cancelled at some moment, and some are given a message meanwhile."""
        moment = self.dice.choice(MOMENTS) if self.dice.random() < 0.33 else ()
        queueing = self.dice.random() < 0.1
        last: Any = None
        async for event in self.session.run(prompt, thinking=self.dice.choice([None, True, False])):
            last = event
            if moment and isinstance(event, moment):
                self.session.cancel()
            if queueing and isinstance(event, ToolResult):
                queueing = False
                self.session.queue("And hurry.")
        assert isinstance(last, TERMINAL)
        assert isinstance(last, Complete | Cancelled), last
        self.cancelled += [prompt] if isinstance(last, Cancelled) else []
        self.answered += isinstance(last, Complete)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_that_switches_at_every_turn_is_never_refused(seed: int) -> None:
    """Every provider in some order, parallel calls, thinking, cancellations: no request is refused."""
    talk = Talk(seed)
    whole = virtually(talk.walk())
    assert [(seen.url, seen.problems) for seen in talk.transport.refusals] == []
    assert {seen.status for seen in talk.transport.exchanges} == {200}
    spoke = {str(turn.origin) for turn in whole.history.turns if isinstance(turn, ModelTurn)}
    assert len(spoke) > len(NAMES) - len(talk.cancelled) - 1
    assert talk.cancelled and talk.answered > 15
    statuses = {item.status for item in whole.history.ledger}
    assert {"complete", "error"} <= statuses and statuses & {"cancelled", "denied"}
