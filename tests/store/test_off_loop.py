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


def slow_down(store: Store) -> list[float]:
    """Every append takes this long from now on; when each began."""
    began: list[float] = []
    append = store.log.append

    def slowly(*given: Any) -> None:
        began.append(time.monotonic())
        time.sleep(SLOW)
        append(*given)

    store.log.append = slowly  # type: ignore[method-assign]
    return began


def test_other_streams_flow_while_a_commit_takes_200_ms(store: Store) -> None:
    """A counter on the same loop is never held up for as long as one commit takes."""

    @tool(risk="read")
    async def look(n: int) -> str:
        """Look."""
        return f"seen {n}"

    async def talk() -> list[float]:
        model = ScriptedModel(["warm", [Call("look", {"n": 1}), Call("look", {"n": 2})], "done"])
        session = Session(
            "openai:gpt-5.1",
            store=store,
            id="s",
            tools=[look],
            api_key="k",
            world=World(transport=model, environment={}),
        )
        waits: list[float] = []
        async with session:
            await session.ask("warm up")
            commits.append(slow_down(store))
            ticking = asyncio.create_task(tick(waits))
            seen = [event async for event in session.run("go")]
            ticking.cancel()
        assert isinstance(seen[-1], Complete)
        return waits

    commits: list[list[float]] = []
    waits = asyncio.run(talk())
    assert len(commits[0]) >= 4
    assert max(waits) < SLOW / 2, f"the loop stood still for {max(waits):.3f} s"


async def tick(waits: list[float]) -> None:
    last = time.monotonic()
    while True:
        await asyncio.sleep(0.005)
        now = time.monotonic()
        waits.append(now - last)
        last = now
