"""The scheduler under any weather, on a virtual clock: the laws of the batch hold with real tasks too."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from tests.tools.schedule.scheduling import Desk, VirtualClock, call

from turnout.model import Text, ToolCall
from turnout.tools.confine.threads import Inline
from turnout.tools.declare.tool import Tool, tool
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.tools.policy.rules import Policy
from turnout.tools.schedule.scheduler import ToolLimits

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
EXAMPLES = 3000 if SOAK else 150


class Job(Struct, frozen=True):
    """What one call does: how long it takes, how it ends, how long it ignores being stopped."""

    path: str = "a"
    seconds: float = 0.0
    ending: str = "return"
    deaf: float = 0.0
    tool: str = "write"


JOBS = st.builds(
    Job,
    st.sampled_from(["a", "a/b", "c"]),
    st.sampled_from([0.0, 0.5, 1.0, 20.0]),
    st.sampled_from(["return", "raise", "exit", "cancel", "call"]),
    st.sampled_from([0.0, 0.0, 0.5, 100.0]),
    st.sampled_from(["write", "read", "alone", "missing", "ask"]),
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.1, 0.6, 1.5, 5.0]),
        st.sampled_from(["cancel", "cancel one", "seal", "task", "task", "close"]),
        st.integers(0, 9),
    ),
    max_size=3,
)
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.7, 50.0]),
        st.sampled_from(["once", "session", "no", "edit", "raise", "forge"]),
    ),
    min_size=1,
    max_size=4,
)


class World:
    """Tools that keep book of who runs, so that an overlap is seen where it happens."""

    def __init__(self) -> None:
        self.running: list[tuple[str, bool]] = []
        self.overlaps: list[str] = []
        self.ran: list[str] = []

    def tools(self) -> list[Tool]:
        def made(name: str, risk: Any, **options: Any) -> Tool:
            async def work(path: str, seconds: float, ending: str, deaf: float, key: str) -> Any:
                return await self.work(path, seconds, ending, deaf, key, risk != "read")

            return tool(work, name=name, risk=risk, **options)

        return [
            made("write", "write"),
            made("read", "read"),
            made("alone", "write", parallel=False),
            made("ask", "risky"),
        ]

    async def work(self, path: str, seconds: float, ending: str, deaf: float, key: str, changes: bool) -> Any:
        self.ran.append(key)
        self.enter(path, changes)
        try:
            await self.sleep(seconds, deaf)
        finally:
            self.running.remove((path, changes))
        match ending:
            case "raise":
                raise ValueError("no")
            case "exit":
                raise SystemExit
            case "cancel":
                raise asyncio.CancelledError
            case "call":
                return [Text("x"), ToolCall("c", "write")]
        return "done"

    def enter(self, path: str, changes: bool) -> None:
        for other, changed in self.running:
            near = other == path or other.startswith(path + "/") or path.startswith(other + "/")
            if near and (changes or changed):
                self.overlaps.append(path)
        self.running.append((path, changes))

    async def sleep(self, seconds: float, deaf: float) -> None:
        until = asyncio.get_running_loop().time() + seconds + deaf
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            if not deaf:
                raise
            while (left := until - asyncio.get_running_loop().time()) > 0.001:
                try:
                    await asyncio.sleep(left)
                except asyncio.CancelledError:
                    continue


def approver(answers: list[tuple[float, str]]) -> Any:
    waiting = list(answers)

    async def asked(request: ApprovalRequest) -> Decision:
        seconds, answer = waiting[0] if len(waiting) == 1 else waiting.pop(0)
        await asyncio.sleep(seconds)
        match answer:
            case "once":
                return request.once()
            case "session":
                return request.for_session()
            case "edit":
                return request.edit({**request.arguments, "path": "edited"})
            case "raise":
                raise SystemExit
            case "forge":
                return Decision("once", request.call_id, "another")
        return request.no()

    return asked


def calls(jobs: list[Job]) -> list[ToolCall]:
    return [
        call(
            job.tool, str(n), path=job.path, seconds=job.seconds, ending=job.ending, deaf=job.deaf, key=str(n)
        )
        for n, job in enumerate(jobs)
    ]


async def weather(desk: Desk, jobs: list[Job], events: list[tuple[float, str, int]]) -> None:
    """Run the batch while things happen to it."""
    turn = desk.turn(*calls(jobs))
    half = len(jobs) // 2
    batches = [turn.tool_calls[:half], turn.tool_calls[half:]]
    runs = [asyncio.ensure_future(desk.scheduler.run(batch, desk.events.append)) for batch in batches]
    for seconds, what, number in events:
        await asyncio.sleep(seconds)
        match what:
            case "cancel":
                desk.scheduler.cancel()
            case "cancel one":
                desk.scheduler.cancel(turn.tool_calls[number % len(jobs)].id)
            case "seal":
                desk.history.seal()
            case "task":
                runs[number % 2].cancel()
            case "close":
                await desk.scheduler.close()
    await asyncio.gather(*runs, return_exceptions=True)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(JOBS, min_size=1, max_size=7), EVENTS, ANSWERS, st.integers(1, 4))
def test_whatever_happens_every_call_ends_once_and_no_two_hands_meet(
    jobs: list[Job], events: list[tuple[float, str, int]], answers: list[tuple[float, str]], parallel: int
) -> None:
    """Failures, deaf tools, timeouts, slow or forged answers, cancellations: the laws hold, nothing hangs."""
    world = World()
    desk = Desk(
        *world.tools(),
        policy=Policy("auto-edit"),
        approver=approver(answers),
        limits=ToolLimits(parallel=parallel, timeout=10, grace=2, calls=6),
        threads=Inline(),
    )
    loop = VirtualClock()
    try:
        loop.run_until_complete(weather(desk, jobs, events))
        over = loop.now
        loop.run_until_complete(asyncio.sleep(1000))  # whoever was given up ends at last
    finally:
        loop.close()
    assert "pending" not in desk.statuses().values()
    assert not world.overlaps
    assert not world.running
    assert not desk.scheduler.tree.running.given_up
    assert len(world.ran) == len(set(world.ran))
    shown = [event.call_id for event in desk.results()]
    assert len(shown) == len(set(shown))
    assert over < 1000
    started = {item.call.raw_id for item in desk.history.ledger if item.started}
    assert set(world.ran) == started
