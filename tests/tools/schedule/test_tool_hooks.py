"""Hooks around tool calls: what they may change, and what happens when they fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.errors import HookError
from turnout.model import Outcome, ToolCall
from turnout.tools.declare.tool import tool
from turnout.tools.schedule.tool_hooks import Refuse, ToolHooks, ask_hooks


@tool(risk="read")
async def echo(text: str) -> str:
    """Give the text back."""
    return text


def desk_with(before: Any = None, after: Any = None, seconds: float = 5.0) -> Desk:
    hooks = ToolHooks(((before, seconds),) if before else (), ((after, seconds),) if after else ())
    return Desk(echo, hooks=hooks)


def test_a_hook_may_change_the_arguments_and_the_outcome() -> None:
    """The tool runs with the new arguments, and the model reads the new outcome."""

    async def before(wanted: ToolCall) -> ToolCall:
        return replace(wanted, arguments={"text": "mine"})

    async def after(wanted: ToolCall, outcome: Outcome) -> Outcome:
        return Outcome("complete", f"{wanted.arguments['text']}: {outcome.text}")

    desk = desk_with(before, after)
    go(desk.run(call("echo", "a", text="theirs")))
    assert desk.text("a") == "mine: mine"


def test_a_refusal_is_an_outcome_and_not_an_error() -> None:
    """The model reads the reason; the batch goes through."""

    async def before(wanted: ToolCall) -> Refuse:
        return Refuse("not on Fridays")

    desk = desk_with(before)
    go(desk.run(call("echo", "a", text="x")))
    assert desk.outcome("a").status == "denied" and "not on Fridays" in desk.text("a")
    assert desk.codes() == ["hook_refused"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda wanted: replace(wanted, name="other"), "change its arguments only"),
        (lambda wanted: replace(wanted, arguments={}), "do not fit"),
        (lambda wanted: "yes", "give ToolCall, Refuse or None"),
    ],
)
def test_an_answer_that_breaks_the_rules_refuses_the_call_and_is_raised(change: Any, problem: str) -> None:
    """A guard that is broken lets nothing through, and its author learns why."""

    async def before(wanted: ToolCall) -> Any:
        return change(wanted)

    desk = desk_with(before)
    with pytest.raises(HookError, match=problem):
        go(desk.run(call("echo", "a", text="x")))
    assert desk.outcome("a").status == "denied"


def test_a_hook_that_takes_too_long_has_not_agreed() -> None:
    """The result is withheld from the model."""

    async def after(wanted: ToolCall, outcome: Outcome) -> None:
        await asyncio.sleep(60)

    desk = desk_with(after=after, seconds=0.05)
    with pytest.raises(HookError, match="no answer within its limit"):
        go(desk.run(call("echo", "a", text="secret")))
    assert "has run, but its result was withheld" in desk.text("a") and "secret" not in desk.text("a")


def test_each_hook_sees_what_the_one_before_returned() -> None:
    """None changes nothing."""

    async def double(value: str) -> str:
        return value * 2

    async def nothing(value: str) -> None:
        return None

    async def ask() -> str:
        return await ask_hooks("h", [(double, 1.0), (nothing, 1.0), (double, 1.0)], "a", lambda task: None)

    assert go(ask()) == "aaaa"
