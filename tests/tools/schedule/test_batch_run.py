"""Stopping: one call, a batch, the session; what cooperates stops at once, what does not is given up."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.build import find
from tests.tools.schedule.scheduling import Desk, call, go, quickest

from turnout.errors import StoreError, UsageError
from turnout.model import Entry, Outcome, Settled, Text
from turnout.tools.declare.tool import ToolContext, tool
from turnout.tools.schedule.scheduler import ToolLimits


@tool
async def forever() -> str:
    """Wait for what never comes."""
    await asyncio.Event().wait()
    return "never"


@tool
async def quick() -> str:
    return "quick"


@tool
def polite(ctx: ToolContext) -> str:
    """A plain function that looks whether it shall stop."""
    ctx.output("half of it\n")
    ctx.cancelled.wait(30)
    return "stopped early"


@tool
def counting() -> Iterator[int]:
    for _ in range(3000):
        time.sleep(0.01)
        yield 0


@tool
async def counting_later() -> AsyncIterator[int]:
    for _ in range(3000):
        await asyncio.sleep(0.01)
        yield 0


def stubborn(release: asyncio.Event) -> Any:
    """A tool that swallows its cancellation until it is let go."""

    @tool(risk="write")
    async def deaf(path: str = "a") -> str:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "at last"

    return deaf


async def started(desk: Desk, *calls: Any) -> asyncio.Task[Any]:
    """A batch under way, its tools running."""
    running = asyncio.ensure_future(desk.run(*calls))
    await asyncio.sleep(0.05)
    return running


@pytest.mark.parametrize("kind", [forever, polite, counting, counting_later], ids=lambda kind: kind.name)
def test_a_tool_that_cooperates_stops_within_a_quarter_of_a_second(kind: Any) -> None:
    """Async tools by cancellation, plain ones by the event, generators between two steps."""

    async def cancelled() -> float:
        desk = Desk(kind)
        running = await started(desk, call(kind.name))
        before = time.perf_counter()
        desk.scheduler.cancel()
        await running
        took = time.perf_counter() - before
        assert desk.outcome(kind.name).status == "cancelled"
        assert desk.outcome(kind.name).reason == "stopped"
        return took

    assert quickest(lambda: go(cancelled()), 0.25) < 0.25


def test_what_a_stopped_tool_had_shown_is_kept() -> None:
    """Output reported before the stop, or what the tool returned when asked to stop, is in the outcome."""

    @tool
    async def chatty(ctx: ToolContext) -> str:
        ctx.output("line one\n")
        await asyncio.Event().wait()
        return ""

    desk = Desk(chatty, polite)

    async def cancelled() -> None:
        running = await started(desk, call("chatty"), call("polite"))
        desk.scheduler.cancel()
        await running

    go(cancelled())
    assert "line one" in desk.text("chatty")
    assert desk.outcome("polite") == Outcome(
        "cancelled", (Text("stopped early"),), reason="stopped", source="tool"
    )


def test_one_call_can_be_cancelled_and_the_others_go_on() -> None:
    """Cancelling a call by its id leaves the rest of the batch alone."""
    desk = Desk(forever, polite)

    async def one() -> None:
        running = await started(desk, call("forever", "a"), call("polite", "b"))
        desk.scheduler.cancel(find(desk.history, "a"))
        await asyncio.sleep(0.02)
        assert desk.statuses() == {"a": "cancelled", "b": "pending"}
        desk.scheduler.cancel()
        await running

    go(one())


def test_a_call_that_had_not_started_says_that_it_did_not_run() -> None:
    """Whoever reads the outcome can tell "did not run" from "may have taken effect"."""
    desk = Desk(forever, limits=ToolLimits(parallel=1))

    async def both() -> None:
        running = await started(desk, call("forever", "a"), call("forever", "b"))
        desk.scheduler.cancel()
        await running

    go(both())
    assert (desk.outcome("a").reason, desk.outcome("b").reason) == ("stopped", "did_not_run")
    assert not desk.history.interaction(find(desk.history, "b")).started


def test_cancelling_the_task_that_runs_the_batch_cancels_the_batch() -> None:
    """The caller's own cancellation settles every call, and still reaches the caller."""
    desk = Desk(forever)

    async def from_outside() -> None:
        running = await started(desk, call("forever", "a"), call("forever", "b"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    go(from_outside())
    assert desk.statuses() == {"a": "cancelled", "b": "cancelled"}


def test_cancelling_twice_does_not_wait_for_the_grace_time() -> None:
    """The second time, tools that have not stopped are given up at once."""

    async def impatient() -> float:
        release = asyncio.Event()
        desk = Desk(stubborn(release), limits=ToolLimits(grace=30))
        running = await started(desk, call("deaf"))
        before = time.perf_counter()
        running.cancel()
        await asyncio.sleep(0.02)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert desk.outcome("deaf").status == "cancelled"
        release.set()
        await asyncio.sleep(0.01)
        return time.perf_counter() - before

    assert go(impatient()) < 15


def test_closing_the_session_interrupts_what_runs_and_what_waits() -> None:
    """Every call of every batch is settled; after that nothing can be scheduled."""
    desk = Desk(forever)

    async def closed() -> None:
        running = await started(desk, call("forever"))
        await desk.scheduler.close()
        await running
        with pytest.raises(UsageError, match="closed"):
            await desk.run(call("forever", "again"))

    go(closed())
    outcome = desk.history.interaction(desk.results()[0].call_id).outcome
    assert outcome is not None
    assert (outcome.status, outcome.reason) == ("interrupted", "stopped")


def test_a_timeout_is_an_error_that_says_so() -> None:
    """A tool's own limit comes before the session's; the model learns the seconds and what was shown."""

    @tool(timeout=0.05)
    async def slow(ctx: ToolContext) -> str:
        ctx.output("so far")
        await asyncio.sleep(30)
        return ""

    desk = Desk(slow)
    go(desk.run(call("slow")))
    outcome = desk.outcome("slow")
    assert (outcome.status, outcome.reason) == ("error", "stopped")
    error, shown = outcome.text.split("\n")
    assert json.loads(error)["tool_error"]["kind"] == "timeout"
    assert json.loads(error)["tool_error"]["seconds"] == 0.05
    assert shown == "so far"


def test_a_plain_function_that_never_looks_is_given_up_and_its_late_result_ignored() -> None:
    """The batch ends after the grace time; what the thread says later is counted and changes nothing."""
    release = threading.Event()
    desk = Desk(
        tool(lambda: release.wait(10) and "late", name="deaf"), limits=ToolLimits(timeout=0.05, grace=0.05)
    )

    async def both() -> None:
        before = time.perf_counter()
        summary = await desk.run(call("deaf"))
        assert time.perf_counter() - before < 8  # it would hold its thread for ten seconds
        assert summary.given_up == 1
        release.set()
        while not desk.scheduler.late:
            await asyncio.sleep(0.01)

    go(both())
    assert desk.outcome("deaf").status == "error"
    assert "may still run" in desk.text("deaf")
    assert desk.codes() == ["abandoned_tool", "late_result"]


def test_a_path_in_the_hands_of_a_tool_that_was_given_up_is_not_touched() -> None:
    """Later calls to that path are told so, in the same batch and the next; other paths go on."""

    async def held() -> None:
        release = asyncio.Event()
        deaf = stubborn(release)

        @tool(risk="write")
        async def write(path: str) -> str:
            return f"wrote {path}"

        desk = Desk(deaf, write, limits=ToolLimits(grace=0.05))
        running = await started(desk, call("deaf", path="a"), call("write", "same", path="a/b"))
        desk.scheduler.cancel(find(desk.history, "deaf"))
        await running
        assert json.loads(desk.text("same"))["tool_error"]["kind"] == "path_in_use"
        await desk.run(call("write", "next", path="a"), call("write", "other", path="b"))
        assert desk.statuses() == {"next": "error", "other": "complete"}
        release.set()
        await asyncio.sleep(0.01)
        await desk.run(call("write", "free", path="a"))
        assert desk.text("free") == "wrote a"

    go(held())


def test_a_result_that_is_there_stands_even_if_the_cancellation_comes_with_it() -> None:
    """A tool that had ended before it was told to stop is complete."""
    desk = Desk(quick)

    async def race() -> None:
        turn = desk.turn(call("quick"))
        running = asyncio.ensure_future(desk.scheduler.run(turn.tool_calls))
        while desk.history.interaction(turn.tool_calls[0].id).outcome is None:
            await asyncio.sleep(0)
        desk.scheduler.cancel()
        await running

    go(race())
    assert desk.outcome("quick").status == "complete"


def test_a_result_that_is_being_saved_is_not_cancelled_any_more() -> None:
    """The function is through: a stop that comes while its text is put away changes nothing."""
    saving = threading.Event()

    def slowly(text: str) -> str:
        saving.set()
        time.sleep(0.1)
        return "whole.txt"

    @tool
    async def huge() -> str:
        return "x" * 2_000_000

    desk = Desk(huge, save=slowly)

    async def race() -> None:
        running = asyncio.ensure_future(desk.run(call("huge")))
        while not saving.is_set():
            await asyncio.sleep(0.005)
        desk.scheduler.cancel()
        await running

    go(race())
    assert desk.outcome("huge").status == "complete"
    assert "whole.txt" in desk.text("huge")


def test_a_store_that_breaks_while_tools_run_stops_them() -> None:
    """An outcome that cannot be recorded stops the rest of the batch, and the caller learns why."""
    desk = Desk(forever, quick)
    turn = desk.turn(call("forever"), call("quick"))

    def broken(entry: Entry) -> None:
        if isinstance(entry, Settled):
            raise StoreError("disk full")

    desk.history.writer = broken
    with pytest.raises(StoreError, match="disk full"):
        go(desk.scheduler.run(turn.tool_calls), limit=5)
    assert not desk.scheduler.busy


def test_a_tool_that_never_ends_does_not_keep_the_program_from_ending() -> None:
    """Neither a task that swallows cancellation nor a thread that sleeps holds up the exit."""
    code = """
import asyncio, time
from turnout.history.log import History
from turnout.model import ToolCall
from turnout.tools.schedule.scheduler import ToolLimits, ToolScheduler
from turnout.tools.policy.rules import Policy
from turnout.tools.declare.tool import tool

@tool
async def deaf():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

@tool
def asleep():
    time.sleep(3600)

async def main():
    history = History("h")
    turn = history.reply("a:b", [ToolCall("1", "deaf"), ToolCall("2", "asleep")])
    limits = ToolLimits(timeout=0.05, grace=0.05)
    scheduler = ToolScheduler([deaf, asleep], history, policy=Policy("full"), limits=limits)
    print(await scheduler.run(turn.tool_calls))

asyncio.run(main())
print("ended")
import os, sys
sys.stdout.flush()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False
    )
    assert "errors=2" in done.stdout
    assert done.stdout.endswith("ended\n")


def test_cancellation_at_any_moment_leaves_no_call_open() -> None:
    """The batch is cancelled after any number of turns of the loop: every call has exactly one outcome."""

    @tool(risk="write")
    async def step(path: str, times: int) -> str:
        for _ in range(times):
            await asyncio.sleep(0)
        return "done"

    async def at(moment: int) -> None:
        desk = Desk(step, polite, limits=ToolLimits(parallel=2, grace=1))
        calls = [call("step", str(n), path="ab"[n % 2], times=n) for n in range(5)]
        running = asyncio.ensure_future(desk.run(*calls))
        for _ in range(moment):
            await asyncio.sleep(0)
        desk.scheduler.cancel()
        await running
        assert "pending" not in desk.statuses().values()
        assert len(desk.results()) == 5
        assert not desk.scheduler.busy

    async def all_moments() -> None:
        for moment in range(40):
            await at(moment)

    go(all_moments())
