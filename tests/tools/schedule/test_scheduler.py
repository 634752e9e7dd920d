"""The scheduler: a turn's calls as one batch, every call with one outcome, shown when it is on record."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from tests.tools.schedule.scheduling import Desk, VirtualClock, call, go

from turnout.model import Code, Entry, Media, Outcome, Settled, Started, Text, Thinking, ToolCall
from turnout.tools.confine.threads import Inline
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import ToolContext, tool
from turnout.tools.policy.rules import Policy
from turnout.tools.schedule.batch import BatchSummary
from turnout.tools.schedule.execute import execute_tool_call
from turnout.tools.schedule.scheduler import ToolLimits


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


def test_every_call_of_a_turn_gets_its_outcome() -> None:
    """The outcomes are in the history, and the summary counts them."""
    desk = Desk(echo)
    summary = go(desk.run(call("echo", "a", text="one"), call("echo", "b", text="two"), call("echo", "c")))
    assert (desk.text("a"), desk.text("b")) == ("one", "two")
    assert desk.statuses() == {"a": "complete", "b": "complete", "c": "error"}
    assert summary == BatchSummary(scheduled=3, completed=2, errors=1, invalid=1)


def test_calls_run_in_parallel() -> None:
    """Five tools that each wait until all five are there come to their end."""
    met = asyncio.Barrier(5)

    @tool
    async def meet() -> str:
        await met.wait()
        return "met"

    desk = Desk(meet)
    go(desk.run(*(call("meet", str(n)) for n in range(5))))
    assert set(desk.statuses().values()) == {"complete"}


def test_the_limit_on_parallel_calls_holds() -> None:
    """No more tools run at once than the limit says, and all of them run."""
    running = most = 0

    @tool
    async def count() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "counted"

    desk = Desk(count, limits=ToolLimits(parallel=3))
    assert go(desk.run(*(call("count", str(n)) for n in range(10)))).completed == 10
    assert most == 3


def test_intent_is_on_record_before_the_tool_runs_and_the_outcome_before_it_is_shown() -> None:
    """Started, then the effect, then settled, then the event: in this order."""
    log: list[str] = []

    @tool
    def touch() -> str:
        log.append("effect")
        return "touched"

    def writer(entry: Entry) -> None:
        if isinstance(entry, Started | Settled):
            log.append(type(entry).__name__)

    desk = Desk(touch)
    desk.history.writer = writer
    turn = desk.turn(call("touch"))

    def seen(event: Any) -> None:
        if isinstance(event, ToolResult):
            log.append("shown")

    go(desk.scheduler.run(turn.tool_calls, seen))
    assert log == ["Started", "effect", "Settled", "shown"]


def test_each_outcome_is_committed_and_shown_when_it_is_there() -> None:
    """A quick call does not wait for a slow one; the transcript still has call order."""
    desk = Desk(wait)
    go(desk.run(call("wait", "slow", seconds=0.1), call("wait", "quick", seconds=0.0)))
    shown = [desk.history.interaction(event.call_id).call.raw_id for event in desk.results()]
    assert shown == ["quick", "slow"]
    assert list(desk.statuses()) == ["slow", "quick"]


def test_the_states_of_a_call_are_events() -> None:
    """validating, scheduled, executing, and the outcome; then exactly one result."""
    desk = Desk(echo)
    go(desk.run(call("echo", text="hi")))
    assert desk.states("echo") == ["validating", "scheduled", "executing", "complete"]
    assert len(desk.results()) == 1


def test_repairs_are_visible() -> None:
    """What was put right is named in the result, diagnosed, counted, and on record as what was run."""
    desk = Desk(wait)
    summary = go(desk.run(call("functions.Wait", "w", seconds="0")))
    assert summary == BatchSummary(scheduled=1, completed=1, repaired=1)
    assert desk.results()[0].repaired == ("number at seconds",)
    assert desk.codes() == ["repaired_name", "repaired_arguments"]
    interaction = desk.history.interaction(desk.results()[0].call_id)
    assert (interaction.call.arguments, interaction.arguments) == ({"seconds": "0"}, {"seconds": 0})


def test_truncated_calls_are_never_run() -> None:
    """A call that was cut off is answered with an error that says so."""
    desk = Desk(echo)
    cut = ToolCall("x", "echo", {}, raw='{"text": "hal', fault="truncated")
    go(desk.run(cut))
    assert json.loads(desk.text("x"))["tool_error"]["kind"] == "truncated_arguments"
    assert not desk.history.interaction(desk.results()[0].call_id).started


# What a tool may be, and what it may give back


def test_tools_of_every_kind_run() -> None:
    """Plain, async, generator, async generator, and a function that returns a coroutine."""

    @tool
    def plain() -> str:
        return "plain"

    @tool
    def steps() -> Iterator[str]:
        yield "step"
        return "generator"

    @tool
    async def later_steps() -> AsyncIterator[str]:
        yield "step"
        yield "async generator"

    async def inner() -> str:
        return "coroutine"

    desk = Desk(plain, echo, steps, later_steps, tool(lambda: inner(), name="lazy"))
    go(desk.run(call("plain"), call("echo", text="async"), call("steps"), call("later_steps"), call("lazy")))
    texts = [desk.text(name) for name in ("plain", "echo", "steps", "later_steps", "lazy")]
    assert texts == ["plain", "async", "generator", "async generator", "coroutine"]


RETURNS = [
    ("text", Outcome("complete", (Text("text"),))),
    (None, Outcome("complete")),
    ({"a": [1, None]}, Outcome("complete", (Text('{"a":[1,null]}'),))),
    ([1, 2], Outcome("complete", (Text("[1,2]"),))),
    (Media("image/png", "AAAA"), Outcome("complete", (Media("image/png", "AAAA"),))),
    (
        ["see", Media("image/png", "AAAA"), Code("x = 1", "python"), {"n": 1}],
        Outcome(
            "complete", (Text("see"), Media("image/png", "AAAA"), Code("x = 1", "python"), Text('{"n":1}'))
        ),
    ),
    (Outcome("error", "no luck"), Outcome("error", (Text("no luck"),))),
    ("half \ud800 a character\0", Outcome("complete", (Text("half \ufffd a character\ufffd"),))),
]


@pytest.mark.parametrize(("value", "wanted"), RETURNS, ids=[type(value).__name__ for value, _ in RETURNS])
def test_what_a_tool_returns_becomes_its_outcome(value: Any, wanted: Outcome) -> None:
    """Text, JSON values, media, blocks, or an outcome of its own; content is marked with its source."""
    desk = Desk(tool(lambda: value, name="give"))
    go(desk.run(call("give")))
    assert desk.outcome("give") == replace(wanted, source="tool" if wanted.content else "")


def test_calls_inside_a_result_are_taken_out_counted_and_diagnosed() -> None:
    """A result never holds a call, nor what another model thought; the rest stays."""
    blocks = [Text("found"), ToolCall("x", "rm"), Thinking("hm"), ToolCall("y", "rm")]
    desk = Desk(tool(lambda: blocks, name="agent"), tool(lambda: ToolCall("z", "rm"), name="only"))
    summary = go(desk.run(call("agent"), call("only")))
    assert desk.outcome("agent").content == (Text("found"),)
    assert "was removed" in desk.text("only")
    assert summary.filtered == 3
    assert desk.codes() == ["call_in_result", "call_in_result"]


def test_tools_share_the_state_of_their_session() -> None:
    """`ctx.state` is one dictionary for all calls of a session."""

    @tool
    def remember(ctx: ToolContext, word: str) -> int:
        ctx.state.setdefault("words", []).append(word)
        return len(ctx.state["words"])

    desk = Desk(remember)

    async def twice() -> None:
        await desk.run(call("remember", "a", word="x"))
        await desk.run(call("remember", "b", word="y"))

    go(twice())
    assert desk.text("b") == "2"


# Once, and only once


def test_duplicate_calls_are_answered_once() -> None:
    """A call that is given twice, or again later, runs once."""
    ran = []
    desk = Desk(tool(lambda: ran.append(1), name="act"))

    async def again() -> list[BatchSummary]:
        turn = desk.turn(call("act"))
        first = await desk.scheduler.run([*turn.tool_calls, *turn.tool_calls])
        return [first, await desk.scheduler.run(turn.tool_calls)]

    first, second = go(again())
    assert ran == [1]
    assert (first.scheduled, first.duplicates) == (1, 1)
    assert (second.scheduled, second.duplicates) == (0, 1)
    assert desk.codes() == ["repeated_schedule", "repeated_schedule"]


def test_a_call_that_a_crashed_process_started_is_not_run_again() -> None:
    """Started without an outcome: interrupted, unless the tool says that running it again does no harm."""
    ran = []
    once = tool(lambda: ran.append("once"), name="once")
    safe = tool(lambda: ran.append("safe"), name="safe", retry_safe=True)
    desk = Desk(once, safe)
    turn = desk.turn(call("once"), call("safe"))
    for each in turn.tool_calls:
        desk.history.start(each.id)
    go(desk.scheduler.run(turn.tool_calls))
    assert ran == ["safe"]
    assert desk.outcome("once") == Outcome("interrupted", synthetic=True, reason="stopped")


def test_a_call_that_was_sealed_while_it_waited_never_runs() -> None:
    """When the conversation goes on, calls that wait for a slot have their outcome and stay unrun."""
    ran = []
    desk = Desk(wait, tool(lambda: ran.append(1), name="act", parallel=False))

    async def interrupted() -> None:
        turn = desk.turn(call("wait", "w", seconds=0.05), call("act", "x"))
        running = asyncio.ensure_future(desk.scheduler.run(turn.tool_calls))
        await asyncio.sleep(0.01)
        desk.history.user("never mind")
        await running

    go(interrupted())
    assert not ran
    assert desk.statuses() == {"w": "interrupted", "x": "interrupted"}


# Streams, single shots, and a clock of one's own


def test_a_batch_can_be_walked_as_a_stream_of_events() -> None:
    """`stream` yields the events as they come, and the summary last."""
    desk = Desk(echo)

    async def walked() -> list[Any]:
        turn = desk.turn(call("echo", text="hi"))
        return [event async for event in desk.scheduler.stream(turn.tool_calls)]

    *events, summary = go(walked())
    assert summary == BatchSummary(scheduled=1, completed=1)
    assert isinstance(events[-1], ToolResult)


def test_leaving_a_stream_early_cancels_the_batch() -> None:
    """Whoever stops listening leaves no call open."""
    desk = Desk(wait)

    async def left() -> None:
        turn = desk.turn(call("wait", "a", seconds=30), call("wait", "b", seconds=30))
        stream = desk.scheduler.stream(turn.tool_calls)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    go(left())
    assert set(desk.statuses().values()) == {"cancelled"}


def test_a_single_call_can_be_run_without_a_session() -> None:
    """`execute_tool_call` gives the outcome, with the same guardrails."""

    async def three() -> list[Outcome]:
        return [
            await execute_tool_call([echo], "echo", {"text": "hi"}),
            await execute_tool_call([echo], "echo", '```json\n{"text": "hi",}\n```'),
            await execute_tool_call([echo], "echo", {"text": "hi"}, policy=Policy("plan")),
        ]

    assert [outcome.text for outcome in go(three())] == ["hi", "hi", "hi"]
    assert "missing" in go(execute_tool_call([echo], "echo")).text


def test_a_virtual_clock_drives_everything() -> None:
    """Hours of waiting, timeouts and grace pass in no time, and the same way every time."""
    desk = Desk(
        wait,
        tool(lambda: "at once", name="plain"),
        limits=ToolLimits(timeout=3600, grace=60),
        threads=Inline(),
    )
    loop = VirtualClock()
    try:
        before = time.process_time()
        turn = desk.turn(
            call("wait", "short", seconds=1800), call("wait", "long", seconds=90_000), call("plain")
        )
        loop.run_until_complete(desk.scheduler.run(turn.tool_calls, desk.events.append))
    finally:
        loop.close()
    assert desk.statuses() == {"short": "complete", "long": "error", "plain": "complete"}
    assert loop.now == 3600
    assert time.process_time() - before < 2
