"""Reports of a running tool: in order, bounded, and never after its result."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.tools.schedule.scheduling import Desk, call, go

from turnout.tools.declare.events import ToolProgress, ToolResult
from turnout.tools.declare.tool import ToolContext, tool
from turnout.tools.schedule.progress import Reporter


def test_progress_and_partial_output_are_events_in_order() -> None:
    """Reports from the loop and from a thread arrive before the result, all of them."""

    @tool
    def build(ctx: ToolContext) -> str:
        ctx.progress(0.25)
        ctx.progress("linking")
        ctx.output("one\n")
        ctx.output("two\n")
        return "built"

    desk = Desk(build)
    go(desk.run(call("build")))
    told = [(event.text, event.fraction, event.output) for event in desk.progress()]
    assert [step for step in told if not step[2]] == [("", 0.25, ""), ("linking", None, "")]
    assert "".join(output for _, _, output in told) == "one\ntwo\n"
    assert isinstance(desk.events[-1], ToolResult)


def test_a_flood_of_progress_stays_bounded_and_keeps_the_end() -> None:
    """A tool that reports faster than anyone reads drops old steps, never the last."""

    @tool
    def flood(ctx: ToolContext) -> str:
        for n in range(50_000):
            ctx.progress(f"step {n}")
        ctx.output("x" * 1_000_000 + "end")
        return "done"

    desk = Desk(flood)
    go(desk.run(call("flood")))
    assert any(event.text == "step 49999" for event in desk.progress())
    assert sum(len(event.output) for event in desk.progress()) < 200_000


def test_a_report_never_comes_after_the_result() -> None:
    """Closing hands on what waits, and takes nothing more."""
    told: list[ToolProgress] = []
    reporter = Reporter("c", told.append, wake=lambda flush: None)
    reporter(ToolProgress("c", text="before"))
    reporter.close()
    reporter(ToolProgress("c", text="after"))
    reporter.flush()
    assert told == [ToolProgress("c", text="before")]


def test_progress_events_carry_the_call(tmp_path: Any) -> None:
    """A surface that shows several calls can tell whose progress it is."""

    @tool
    async def step(ctx: ToolContext, name: str) -> str:
        ctx.progress(name)
        await asyncio.sleep(0)
        return name

    desk = Desk(step)
    go(desk.run(call("step", "a", name="a"), call("step", "b", name="b")))
    names = {event.call_id: event.text for event in desk.events if isinstance(event, ToolProgress)}
    assert sorted(names.values()) == ["a", "b"]
    assert len(names) == 2
