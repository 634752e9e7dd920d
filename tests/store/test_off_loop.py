"""A database that takes its time does not stop the loop."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from turnout.session.events import Complete
from turnout.session.session import Session
from turnout.simulate import Call, ScriptedModel
from turnout.store import Store
from turnout.tools.declare.tool import tool
from turnout.world.world import World

SLOW = 0.2


class SlowAppends:
    """Makes every append of a store slow, and counts the turns of the loop during each."""

    def __init__(self, store: Store) -> None:
        self.turns = 0
        self.in_appends: list[int] = []
        self._append = store.log.append
        store.log.append = self._append_slowly  # type: ignore[method-assign]

    def _append_slowly(self, *given: Any) -> None:
        before = self.turns
        time.sleep(SLOW)
        self._append(*given)
        self.in_appends.append(self.turns - before)

    async def count_turns(self) -> None:
        while True:
            await asyncio.sleep(0.002)
            self.turns += 1


def test_other_streams_flow_while_a_commit_takes_200_ms(store: Store) -> None:
    """The loop turns many times during each commit."""

    @tool(risk="read")
    async def look(n: int) -> str:
        """Look."""
        return f"seen {n}"

    async def talk() -> list[int]:
        model = ScriptedModel(["warm", [Call("look", {"n": 1}), Call("look", {"n": 2})], "done"])
        session = Session(
            "openai:gpt-5.1",
            store=store,
            id="s",
            tools=[look],
            api_key="k",
            world=World(transport=model, environment={}),
        )
        async with session:
            await session.ask("warm up")
            slow = SlowAppends(store)
            counting = asyncio.create_task(slow.count_turns())
            seen = [event async for event in session.run("go")]
            counting.cancel()
        assert isinstance(seen[-1], Complete)
        return slow.in_appends

    turns = asyncio.run(talk())
    assert len(turns) >= 4 and min(turns) > 3, turns
