"""One reply without the tools: its calls are the caller's, and what was shown is never taken back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talk import TERMINAL, session, statuses, virtually

from turnout.model import Outcome
from turnout.session.events import Complete, Discarded, Failed, SessionEvent
from turnout.session.session import Session
from turnout.simulate import Call, HttpError, MidStreamError, Say, Truncate
from turnout.streaming.events import TextDelta, ToolCallComplete, ToolCallDelta

PARIS = Call("weather", {"city": "Paris"})


def replies(talk: Session, **options: Any) -> list[SessionEvent]:
    """Every event of one reply; only the last is terminal."""

    async def walk() -> list[SessionEvent]:
        return [event async for event in talk.reply(**options)]

    seen = virtually(walk())
    assert [isinstance(event, TERMINAL) for event in seen] == [False] * (len(seen) - 1) + [True]
    return seen


def test_calls_go_back_to_the_caller() -> None:
    """No tool runs: the calls are in the history, open, and the next reply sees the caller's results."""
    talk, transport = session([[Say("I look."), PARIS], "18 degrees."])
    talk.history.user("weather?")
    seen = replies(talk)
    done = seen[-1]
    assert isinstance(done, Complete) and [call.name for call in done.turn.tool_calls] == ["weather"]
    assert sum(isinstance(event, ToolCallComplete) for event in seen) == 1
    (waiting,) = talk.history.open_calls
    talk.history.settle(waiting.call.id, Outcome("complete", "18"))
    last = replies(talk)[-1]
    assert isinstance(last, Complete) and last.turn.text == "18 degrees." and len(transport.exchanges) == 2


def test_a_reply_that_is_not_kept_leaves_the_history_as_it_was() -> None:
    """`keep=False` is for callers whose client sends the reply back; its key is the one it will have then."""
    talk, _ = session(["Hello.", "Hello again."])
    talk.history.user("hi")
    before = list(talk.history.entries)
    turns = [seen[-1].turn for seen in (replies(talk, keep=False), replies(talk, keep=False))]  # type: ignore[union-attr]
    assert talk.history.entries == before
    assert {turn.key for turn in turns} == {f"{talk.history.key}.2"}


def test_a_failure_before_the_first_event_is_retried_and_taken_elsewhere() -> None:
    """A 500, then another target: nothing was shown, so the listener sees one whole reply."""
    talk, _ = session(
        {"openai": [HttpError("server")], "anthropic": ["Hello."]}, fallback=["anthropic:claude-sonnet-4-5"]
    )
    talk.history.user("hi")
    seen = replies(talk)
    assert statuses(seen) == ["switched"] and isinstance(seen[-1], Complete)
    assert seen[-1].turn.origin.provider == "anthropic"


@pytest.mark.parametrize("end", [Truncate(), MidStreamError("overloaded")])
def test_a_failure_after_the_first_event_ends_the_reply(end: Any) -> None:
    """What was shown cannot be taken back, so it is not asked for again."""
    talk, transport = session([[Say("Hel"), end], "Hello."])
    talk.history.user("hi")
    seen = replies(talk)
    assert isinstance(seen[-1], Failed) and not any(isinstance(event, Discarded) for event in seen)
    assert any(isinstance(event, TextDelta) for event in seen) and len(transport.exchanges) == 1


def test_a_refused_request_is_recovered() -> None:
    """The steps that give up optional parts are taken for a single reply too."""
    talk, _ = session([HttpError("invalid_request"), "Hello."])
    talk.history.user("hi")
    seen = replies(talk, effort="low")
    assert "recovering" in statuses(seen) and isinstance(seen[-1], Complete)


def test_arguments_are_not_redacted() -> None:
    """The caller runs the call: a key in its arguments is the one that the model wrote."""
    key = "key-0123456789"
    talk, _ = session([[Call("weather", {"city": key})]], environment={"OPENAI_API_KEY": key})
    talk.history.user("hi")
    seen = replies(talk)
    assert key in "".join(event.args_delta for event in seen if isinstance(event, ToolCallDelta))


def test_an_unknown_option_is_named() -> None:
    """As with `run` and `ask`."""
    talk, _ = session(["Hello."])
    with pytest.raises(TypeError, match="temperature"):
        talk.reply(temprature=1)
