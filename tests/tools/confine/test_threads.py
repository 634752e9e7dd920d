"""Threads for tools that block: bounded, used again, never awaited at exit."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.tools.confine.threads import Threads
from turnout.tools.declare.tool import tool
from turnout.tools.schedule.scheduler import ToolLimits


def test_a_tool_that_blocks_does_not_block_the_loop() -> None:
    """While a plain function waits, the loop goes round: it is the loop that lets it go."""
    released = threading.Event()
    desk = Desk(tool(lambda: "released" if released.wait(10) else "forgotten", name="sleepy"))

    async def watched() -> None:
        running = asyncio.ensure_future(desk.run(call("sleepy")))
        for _ in range(5):
            await asyncio.sleep(0.005)
        assert not running.done()
        released.set()
        await running

    go(watched())
    assert desk.text("sleepy") == "released"


def test_threads_are_bounded_and_their_lack_is_an_outcome() -> None:
    """When every thread is held by a tool that does not return, the next call is told so."""
    released = threading.Event()
    desk = Desk(
        tool(lambda: released.wait(10), name="stuck"),
        threads=Threads(1),
        limits=ToolLimits(grace=0.05, timeout=0.05),
    )

    async def two() -> None:
        await desk.run(call("stuck", "a"))
        await desk.run(call("stuck", "b"))
        released.set()

    go(two())
    assert "all 1 threads are held" in desk.text("b")


def test_threads_are_used_again() -> None:
    """A hundred calls one after the other need one thread."""
    threads, seen = Threads(1), set()

    async def many() -> None:
        for _ in range(100):
            seen.add(await threads.start(threading.get_ident))
        threads.close()

    go(many())
    assert len(seen) == 1


def test_what_a_function_raises_in_a_thread_reaches_whoever_waits() -> None:
    """Also what a future does not take; and the thread is used again."""
    threads = Threads(1)

    async def both() -> None:
        for error in (ValueError("x"), SystemExit(), StopIteration()):

            def fail(error: BaseException = error) -> None:
                raise error

            with pytest.raises(BaseException) as caught:
                await threads.start(fail)
            assert type(error).__name__ in repr(caught.value)
        assert await threads.start(lambda: 5) == 5

    go(both())
