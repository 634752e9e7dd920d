"""The admission of a batch: limits, calls that ran before, and hooks beside each other."""

from __future__ import annotations

import asyncio

from tests.tools.schedule.scheduling import Desk, call, go

from turnout.model import ToolCall
from turnout.tools.declare.tool import tool
from turnout.tools.policy.rules import Policy
from turnout.tools.schedule.scheduler import ToolLimits
from turnout.tools.schedule.tool_hooks import ToolHooks


@tool(risk="write")
async def change(path: str = "a") -> str:
    """Change something."""
    return "changed"


def test_calls_beyond_the_limit_of_a_turn_are_not_run() -> None:
    """They get an outcome that says so, and are counted."""
    desk = Desk(change, limits=ToolLimits(calls=1))
    summary = go(desk.run(call("change", "a"), call("change", "b")))
    assert (summary.over_limit, desk.text("a")) == (1, "changed")
    assert "one turn may hold 1 calls" in desk.text("b")


def test_without_an_approver_a_call_that_needs_approval_is_denied() -> None:
    """The reason names the mode."""
    desk = Desk(change, policy=Policy("ask"))
    go(desk.run(call("change", "a")))
    assert desk.outcome("a").status == "denied"
    assert "the user cannot be asked: ask mode asks before writing" in desk.text("a")


def test_a_call_that_a_crashed_process_started_is_settled_as_stopped() -> None:
    """A tool that is not safe to retry does not run a second time."""
    desk = Desk(change)
    turn = desk.turn(call("change", "a"))
    desk.history.start(turn.tool_calls[0].id)
    go(desk.scheduler.run(turn.tool_calls))
    assert (desk.outcome("a").status, desk.outcome("a").reason) == ("interrupted", "stopped")


def test_hooks_are_asked_about_all_calls_at_the_same_time() -> None:
    """A slow answer about one call does not delay the question about the next."""
    asked: list[str] = []
    both = asyncio.Event()

    async def before(wanted: ToolCall) -> None:
        asked.append(wanted.raw_id)
        if len(asked) == 2:
            both.set()
        await both.wait()

    desk = Desk(change, hooks=ToolHooks(before=((before, 10.0),)))
    go(desk.run(call("change", "a", path="a"), call("change", "b", path="b")))
    assert (sorted(asked), desk.statuses()) == (["a", "b"], {"a": "complete", "b": "complete"})
