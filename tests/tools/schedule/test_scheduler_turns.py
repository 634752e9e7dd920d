"""Batches of one scheduler take turns: which one a stop is for, and what a batch that never began leaves."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.tools.declare.tool import tool


def gated(gate: asyncio.Event) -> Any:
    @tool
    async def wait() -> str:
        """Wait for the gate."""
        await gate.wait()
        return "through"

    return wait


def test_a_stop_is_for_the_batch_that_runs() -> None:
    """The one that waits for it begins then, and ends as it would have."""

    async def story() -> None:
        gate = asyncio.Event()
        desk = Desk(gated(gate))
        turn = desk.turn(call("wait", "1"), call("wait", "2"))
        first, second = (
            asyncio.ensure_future(desk.scheduler.run([each], desk.events.append)) for each in turn.tool_calls
        )
        while not desk.states("1"):
            await asyncio.sleep(0)
        desk.scheduler.cancel()
        await first
        gate.set()
        await second
        assert desk.statuses() == {"1": "cancelled", "2": "complete"}

    go(story())


def test_a_batch_that_is_given_up_while_it_waits_leaves_nothing() -> None:
    """The scheduler is busy as long as a batch runs or waits, and no longer."""

    async def story() -> None:
        gate = asyncio.Event()
        desk = Desk(gated(gate))
        turn = desk.turn(call("wait", "1"), call("wait", "2"))
        assert not desk.scheduler.busy
        first, second = (
            asyncio.ensure_future(desk.scheduler.run([each], desk.events.append)) for each in turn.tool_calls
        )
        while not desk.states("1"):
            await asyncio.sleep(0)
        second.cancel()
        with suppress(asyncio.CancelledError):
            await second
        assert desk.scheduler.busy
        gate.set()
        await first
        assert not desk.scheduler.busy
        assert desk.statuses()["1"] == "complete"

    go(story())


def test_a_listener_that_raises_hears_no_more() -> None:
    """Its error is raised when the batch has ended; every call has its outcome all the same."""

    async def story() -> None:
        gate = asyncio.Event()
        gate.set()
        desk, heard = Desk(gated(gate)), list[Any]()

        def listen(event: Any) -> None:
            heard.append(event)
            raise ValueError("trouble")

        turn = desk.turn(call("wait", "1"), call("wait", "2"))
        with pytest.raises(ValueError, match="trouble"):
            await desk.scheduler.run(turn.tool_calls, listen)
        assert len(heard) == 1 and desk.statuses() == {"1": "complete", "2": "complete"}

    go(story())
