"""Hooks that raise, hang, will not be stopped or talk nonsense: they refuse, and break nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.runtime.talk import events, session, virtually
from tests.runtime.test_hooks import PARIS, results, sound

from turnout import HookError, Hooks, ToolCall
from turnout.runtime.events import Cancelled, Complete, Failed
from turnout.tools.events import ToolState


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
def test_a_hook_that_misbehaves_around_a_tool_call_counts_as_a_refusal(place: str, hook: Any) -> None:
    """The call is denied, or its result withheld; what broke inside the hook is not for the model."""
    talk, transport = session([[PARIS], "Fine."], hooks=Hooks(**{place: hook, "timeout": 5}))
    assert isinstance(events(talk)[-1], Complete)
    [(status, text)] = results(talk)
    assert status == ("denied" if place == "before_tool" else "error") and "no answer" in text
    assert b"verysecret" not in transport.seen[-1].body
    assert [item.code for item in talk.history.diagnostics if item.layer == "tools"] == ["hook_failed"]
    sound(talk)


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
