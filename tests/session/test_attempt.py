"""One request on the wire: its timeouts, and what it keeps of a reply that breaks."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.session.talk import events, session, shown, virtually

from turnout import Timeouts, ToolCallStart, tool
from turnout.session.events import Failed
from turnout.simulate import Call, Delay, Pings, Say, Stall


def test_silence_is_noticed_and_pings_do_not_hide_it() -> None:
    """No event for the idle time is a timeout, however many pings come."""
    talk, _ = session(
        [[Say("Hi"), Pings(count=100, every=10, after=2)], "Hello."], "anthropic:claude-sonnet-4-5"
    )
    seen = events(talk)
    assert shown(seen) == "Hello."


def test_a_reply_that_never_begins_is_a_timeout() -> None:
    """The time for the first byte is over: the error says so, and nothing is kept of the reply."""
    talk, _ = session([[Delay(100), "Late."]] * 9, timeouts=Timeouts(first_byte=10), retries=0)
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and failed.kind == "timeout"
    assert "no answer within the time limit" in str(failed.error)
    assert len(talk.history.turns) == 1


def test_the_whole_reply_has_a_time_limit_too() -> None:
    """Events that come often enough do not extend it. What had arrived whole is kept."""
    talk, _ = session([[Say("one two"), Stall(30, after=2)]], timeouts=Timeouts(idle=60, total=20), retries=0)
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and failed.kind == "timeout"


def test_tools_are_called_by_our_names_whatever_the_target_calls_them() -> None:
    """OpenAI takes no dots in a name (OAC-04): the events and the turn have the name with the dot."""

    @tool(risk="read", name="weather.now")
    async def now(city: str) -> str:
        """Tell the weather."""
        return f"18 degrees in {city}"

    def play(asked: Any) -> Any:
        return "Mild." if asked.results else [Call(asked.tools[0], {"city": "Oslo"})]

    talk, _ = session(play, tools=[now])
    seen = events(talk)
    assert [event.name for event in seen if isinstance(event, ToolCallStart)] == ["weather.now"]
    assert [item.call.name for item in talk.history.ledger] == ["weather.now"]


def test_a_target_that_named_a_time_is_not_asked_before_it() -> None:
    """The error says how long to wait, and no request is made."""
    talk, _ = session(["Hi."], retries=0)

    async def asked_too_early() -> Failed:
        talk.router.note_failure(talk.target, asyncio.get_running_loop().time(), 30)
        *_, last = [event async for event in talk.run("go")]
        assert isinstance(last, Failed)
        return last

    failed = virtually(asked_too_early())
    assert failed.kind == "rate_limit" and "retry in 30 s" in str(failed.error)
    assert [turn.text for turn in talk.turns] == []
