"""Faults: whatever a tool, a thread, a store or a listener does, the batch ends and the loop lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.errors import StoreError, UsageError
from turnout.model import Entry, ToolCall
from turnout.tools.declare.tool import tool


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


FAULTS: list[BaseException] = [
    ValueError("bad"),
    SystemExit(3),
    KeyboardInterrupt(),
    GeneratorExit(),
    asyncio.CancelledError("mine"),
    StopIteration("stop"),
    StopAsyncIteration(),
    RecursionError("deep"),
    MemoryError(),
    TimeoutError(),
    type("Own", (BaseException,), {})("own"),
    type("Mute", (Exception,), {"__str__": lambda self: 1 / 0})(),
]


def raising(error: BaseException) -> list[Any]:
    """The same fault in every kind of tool."""

    @tool(name="plain")
    def plain() -> None:
        raise error

    @tool(name="later")
    async def later() -> None:
        await asyncio.sleep(0)
        raise error

    @tool(name="steps")
    def steps() -> Iterator[str]:
        yield "one"
        raise error

    @tool(name="later_steps")
    async def later_steps() -> AsyncIterator[str]:
        yield "one"
        raise error

    return [plain, later, steps, later_steps]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_whatever_a_tool_raises_is_an_error_outcome_and_the_loop_lives(error: BaseException) -> None:
    """Twelve kinds of exception in four kinds of tool: each call gets its error, the next one runs."""
    desk = Desk(*raising(error), echo)
    names = ("plain", "later", "steps", "later_steps")

    async def two_batches() -> None:
        await desk.run(*(call(name) for name in names))
        assert set(desk.statuses().values()) == {"error"}
        await desk.run(call("echo", text="alive"))

    go(two_batches())
    assert desk.text("echo") == "alive"


def test_the_error_says_what_went_wrong() -> None:
    """The model reads the kind of the error and its message."""
    desk = Desk(*raising(FileNotFoundError("no such file: a")))
    go(desk.run(call("plain")))
    assert desk.text("plain") == "FileNotFoundError: no such file: a"


def test_a_result_that_cannot_be_saved_is_still_cut() -> None:
    """A full disk costs the whole text, not the result, whether it is cut in the loop or in a thread."""

    def full(text: str) -> str:
        raise OSError("no space left")

    desk = Desk(tool(lambda size: "x" * size, name="give"), save=full)
    go(desk.run(call("give", "large", size=50_000), call("give", "huge", size=5_000_000)))
    assert desk.statuses() == {"large": "complete", "huge": "complete"}
    assert len(desk.text("huge")) < 50_000


def test_a_store_that_cannot_write_stops_the_batch() -> None:
    """Intent that cannot be recorded means that the tool does not run, and the error reaches the caller."""
    ran = []
    desk = Desk(tool(lambda: ran.append(1), name="act"))
    turn = desk.turn(call("act", "a"), call("act", "b"))

    def broken(entry: Entry) -> None:
        raise StoreError("disk full")

    desk.history.writer = broken
    with pytest.raises(StoreError, match="disk full"):
        go(desk.scheduler.run(turn.tool_calls))
    assert not ran


def test_a_listener_that_fails_does_not_disturb_the_batch() -> None:
    """The tools go on, and the listener's error is raised when every call has its outcome."""
    desk = Desk(wait)
    turn = desk.turn(call("wait", "a", seconds=0.01), call("wait", "b", seconds=0.02))

    def broken(event: Any) -> None:
        raise RuntimeError("surface")

    with pytest.raises(RuntimeError, match="surface"):
        go(desk.scheduler.run(turn.tool_calls, broken))
    assert desk.statuses() == {"a": "complete", "b": "complete"}


def test_a_call_that_is_not_in_the_history_is_an_error_of_the_caller() -> None:
    """Only calls that a model made can be scheduled."""
    desk = Desk(echo)
    with pytest.raises(UsageError, match="not in this history"):
        go(desk.scheduler.run([ToolCall("hist_tool_x", "echo")]))
