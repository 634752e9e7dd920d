"""Hooks that raise, hang, will not be stopped or talk nonsense: they are told so, and break nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talk import events, session, virtually
from tests.session.test_hooks import PARIS, results, sound

from turnout import HookError, Hooks, ToolCall
from turnout.session.events import Cancelled, Complete, Failed
from turnout.simulate import Call
from turnout.tools.declare.events import ToolState
from turnout.tools.declare.tool import tool
from turnout.tools.schedule.tool_hooks import ToolHooks


async def forever(*_: Any) -> None:
    await asyncio.sleep(10**9)


async def deaf(*_: Any) -> None:
    """A hook that will not even be stopped."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def broken(*_: Any) -> None:
    raise RuntimeError("sk-verysecretkey1234 is wrong")


async def odd(*_: Any) -> Any:
    return "what?"


@pytest.mark.parametrize("hook", [broken, forever, deaf, odd], ids=lambda hook: hook.__name__)
@pytest.mark.parametrize("place", ["before_model", "after_model"])
def test_a_hook_that_misbehaves_around_a_model_call_ends_the_run_and_no_more(place: str, hook: Any) -> None:
    """It raises, hangs, will not be stopped or talks nonsense: a clear error, and the session goes on."""
    talk, _ = session(lambda asked: "Fine.", hooks=Hooks(**{place: hook, "timeout": 5}))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, HookError)
    assert failed.error.hook == place and not failed.error.refused
    sound(talk)
    talk.model_hooks.before, talk.model_hooks.after = [], []
    assert isinstance(events(talk, "again")[-1], Complete)


@pytest.mark.parametrize("hook", [broken, forever, deaf, odd], ids=lambda hook: hook.__name__)
@pytest.mark.parametrize("place", ["before_tool", "after_tool"])
def test_a_hook_that_misbehaves_around_a_tool_call_is_raised(place: str, hook: Any) -> None:
    """The call is denied, or its result withheld, and the run ends with what went wrong.

    What broke inside the hook is for the user and not for the model.
    """
    talk, transport = session([[PARIS], "Fine."], hooks=Hooks(**{place: hook, "timeout": 5}))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, HookError)
    assert failed.error.hook == place and not failed.error.refused and place in str(failed.error)
    assert hook is not broken or isinstance(failed.error.__cause__, RuntimeError)
    [(status, text)] = results(talk)
    assert status == ("denied" if place == "before_tool" else "error") and "verysecret" not in text
    assert [item.code for item in talk.history.diagnostics if item.layer == "tools"] == ["hook_failed"]
    sound(talk)
    talk.scheduler.hooks = ToolHooks()
    assert isinstance(events(talk, "again")[-1], Complete)
    assert b"verysecret" not in transport.exchanges[-1].body


def test_what_a_callback_raises_in_a_subagent_is_raised_to_the_user() -> None:
    """Through the subagent and its parent; the models are told nothing of it."""

    async def broken_approver(request: Any) -> Any:
        raise RuntimeError("sk-verysecretkey1234 is wrong")

    @tool(risk="write")
    async def change() -> str:
        """Change something."""
        return "changed"

    script = [[Call("task", {"prompt": "help"})], [Call("change")], "Fine."]
    talk, transport = session(script, tools=[change], subagents=True, approver=broken_approver)
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, HookError)
    assert failed.error.hook == "approver" and isinstance(failed.error.__cause__, RuntimeError)
    sound(talk)
    events(talk, "again")
    assert b"verysecret" not in transport.exchanges[-1].body


def test_ask_raises_what_went_wrong_in_a_callback() -> None:
    """`await session.ask(…)` raises `HookError`, with the function's own exception as its cause."""

    async def broken_approver(request: Any) -> Any:
        raise ZeroDivisionError("in my approver")

    @tool(risk="write")
    async def change() -> str:
        """Change something."""
        return "changed"

    talk, _ = session([[Call("change")], "Fine."], tools=[change], approver=broken_approver)
    with pytest.raises(HookError, match="approver: ZeroDivisionError: in my approver") as raised:
        virtually(talk.ask("go"))
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("place", ["before_model", "after_model", "before_tool", "after_tool"])
@pytest.mark.parametrize("hook", [forever, deaf], ids=lambda hook: hook.__name__)
def test_a_cancel_does_not_wait_for_a_hook(place: str, hook: Any) -> None:
    """Whoever cancels while a hook is asked gets the last event at once, and a valid history."""
    talk, _ = session([[PARIS], "Fine.", "Again."], hooks=Hooks(**{place: hook, "timeout": 10**6}))

    async def cancelling() -> tuple[list[Any], float]:
        loop = asyncio.get_running_loop()
        loop.call_later(100, talk.cancel)
        seen = [event async for event in talk.run("go")]
        return seen, loop.time()

    seen, took = virtually(cancelling())
    assert isinstance(seen[-1], Cancelled) and took == pytest.approx(100, abs=1)
    states = {event.call_id: event.state for event in seen if isinstance(event, ToolState)}
    assert not set(states.values()) & {"validating", "scheduled", "executing"}
    sound(talk)


def test_each_hook_has_its_own_time() -> None:
    """A patient one among hasty ones is not hurried."""

    async def thinks(call: ToolCall) -> None:
        await asyncio.sleep(20)

    talk, _ = session([[PARIS], "Fine."], hooks=[Hooks(timeout=1), Hooks(before_tool=thinks, timeout=60)])
    events(talk)
    assert results(talk) == [("complete", "18 degrees in Paris")]
