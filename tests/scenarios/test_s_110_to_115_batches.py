"""S-110 to S-115 in whole sessions: batches in which tools crash, hang, wait, clash, or are too many."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.scenarios.sessions import CLAUDE, OSLO, PARIS, PLACES, paired
from tests.session.talk import events, everything, session, virtually, weather

from turnout.session.events import Cancelled, Complete
from turnout.session.limits import Limits
from turnout.simulate import (
    Call,
)
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.tools.schedule.scheduler import ToolLimits


@tool(risk="read")
async def crash(how: str) -> str:
    """Break."""
    raise {"exit": SystemExit, "interrupt": KeyboardInterrupt, "cancel": asyncio.CancelledError}[how](how)


@pytest.mark.parametrize("how", ["exit", "interrupt", "cancel"])
def test_s_110_a_tool_that_crashes_its_executor_takes_no_other_call_with_it(how: str) -> None:
    """Three calls, the middle one crashes: three results in call order, and the conversation goes on."""
    calls = [PARIS, Call("crash", {"how": how}), OSLO]
    talk, transport = session([calls, "Well."], CLAUDE, tools=[weather, crash])
    assert events(talk)[-1].turn.text == "Well."
    first, second, third = paired(transport.exchanges[1])
    assert (first, third) == ("18 degrees in Paris", "18 degrees in Oslo") and second != first
    assert all(item.outcome is not None for item in talk.history.ledger)


@tool(risk="write")
async def guarded() -> str:
    """Change something."""
    return "changed"


def test_s_111_an_abort_while_one_of_three_waits_for_approval() -> None:
    """Two real results, one cancelled, in one batch; the next prompt is valid for every provider."""

    async def nobody(request: ApprovalRequest) -> Decision:
        await asyncio.Event().wait()
        raise AssertionError("never answered")

    talk, transport = session(
        [[PARIS, Call("guarded"), OSLO], "Then not."], CLAUDE, tools=[weather, guarded], approver=nobody
    )

    async def aborting() -> list[Any]:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if sum(isinstance(each, ToolResult) for each in seen) == 2:
                talk.cancel()
        await everything(talk, "never mind")
        return seen

    seen = virtually(aborting())
    assert isinstance(seen[-1], Cancelled)
    assert [item.status for item in talk.history.ledger] == ["complete", "cancelled", "complete"]
    first, second, third = paired(transport.exchanges[1])
    assert (first, third) == ("18 degrees in Paris", "18 degrees in Oslo")
    assert "did not run" in second and transport.refusals == []


def test_s_112_a_tool_that_ignores_the_abort_is_left_behind() -> None:
    """The run ends after the grace time, the next prompt is answered, and the late result changes nothing."""
    release = asyncio.Event()

    @tool(risk="read")
    async def deaf() -> str:
        """Hear nothing."""
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "far too late"

    talk, transport = session(
        [[Call("deaf"), PARIS], "Moving on."], tools=[weather, deaf], limits=Limits(tools=ToolLimits(grace=2))
    )

    async def aborting() -> float:
        loop = asyncio.get_running_loop()
        async for event in talk.run("go"):
            if isinstance(event, ToolResult):
                talk.cancel()
                began = loop.time()
        took = loop.time() - began
        assert (await talk.ask("next")).text == "Moving on."
        before = list(talk.history.ledger), list(talk.history.turns)
        release.set()
        await asyncio.sleep(1)
        assert (list(talk.history.ledger), list(talk.history.turns)) == before
        return took

    assert virtually(aborting()) <= 3
    assert not any(b"far too late" in seen.body for seen in transport.exchanges)
    assert [item.status for item in talk.history.ledger] == ["cancelled", "complete"]


def test_s_113_edits_of_one_file_in_one_turn_are_made_one_after_the_other() -> None:
    """Four edits of one path, spelled in two ways, and two of another: none is lost, in their order."""
    files = {"a": "", "b": ""}

    @tool(risk="write")
    async def append(path: str, text: str) -> str:
        """Append to a file."""
        key = path.removeprefix("./")
        before = files[key]
        await asyncio.sleep(1)
        files[key] = before + text
        return "done"

    calls = [Call("append", {"path": path, "text": str(n)}) for n, path in enumerate(["a", "b", "./a"] * 2)]
    talk, _ = session([calls, "Done."], tools=[append], approval="full")
    events(talk)
    assert files == {"a": "0235", "b": "14"}


def test_s_114_a_batch_of_another_turn_waits_for_the_running_one() -> None:
    """A queued message does not start a second batch: it is said when the first has settled."""
    running = 0

    @tool(risk="write")
    async def lonely() -> str:
        """Run alone."""
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(1)
        running -= 1
        return "done"

    talk, transport = session([[Call("lonely")], [Call("lonely")], "Both."], tools=[lonely], approval="full")

    async def pushing() -> list[Any]:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if getattr(event, "state", "") == "executing" and len(transport.exchanges) == 1:
                talk.queue("once more")
        return seen

    assert virtually(pushing())[-1].turn.text == "Both."
    assert [item.status for item in talk.history.ledger] == ["complete", "complete"]
    assert transport.refusals == []


@pytest.mark.parametrize("place", PLACES)
def test_s_115_twenty_calls_in_one_turn_are_all_answered(place: str) -> None:
    """None is dropped; those over the limit get an error result that names the limit."""
    many = [Call("weather", {"city": f"city {n}"}) for n in range(20)]
    talk, transport = session([many, "That is many."], place, limits=Limits(tools=ToolLimits(calls=5)))
    assert isinstance(events(talk)[-1], Complete)
    answers = paired(transport.exchanges[1])
    assert len(answers) == 20 and transport.refusals == []
    assert answers[:5] == [f"18 degrees in city {n}" for n in range(5)]
    assert all("too_many_calls" in answer and "5" in answer for answer in answers[5:])
