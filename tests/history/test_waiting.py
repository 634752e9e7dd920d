"""Waiting calls and prompts with a key, as the log tells of them."""

from __future__ import annotations

from tests.build import call, find

from turnout.history.log import History
from turnout.history.waiting import (
    PROMPT_CANCELLED,
    PROMPT_KEY,
    WaitingCall,
    known_prompt,
    note_waiting,
    waiting_calls,
)
from turnout.model import Outcome

MODEL = "openai:gpt-5.1"


def said(history: History, text: str, key: str) -> None:
    history.note(PROMPT_KEY, {"key": key, "turn": history.user(text).key})


def test_what_came_of_a_prompt_is_read_from_the_log() -> None:
    """Not said, said, at work, answered, followed by another, cancelled."""
    history = History("h")
    assert known_prompt(history, "p") is None
    said(history, "go", "p")
    known = known_prompt(history, "p")
    assert known is not None and not known.is_over and known.turns == ()
    history.reply(MODEL, [call("a")])
    known = known_prompt(history, "p")
    assert known is not None and not known.is_over
    history.settle(find(history, "a"), Outcome("complete", "x"))
    answer = history.reply(MODEL, "done")
    said(history, "more", "q")
    known = known_prompt(history, "p")
    assert known is not None and known.is_over and known.turns[-1] == answer
    history.note(PROMPT_CANCELLED, {"key": "q"})
    known = known_prompt(history, "q")
    assert known is not None and known.is_over and known.is_cancelled


def test_a_reply_that_broke_off_is_not_the_answer() -> None:
    """The prompt goes on after it."""
    history = History("h")
    said(history, "go", "p")
    history.reply(MODEL, "half of", stop="interrupted")
    known = known_prompt(history, "p")
    assert known is not None and not known.is_over


def test_a_call_waits_until_it_has_its_outcome() -> None:
    """It is noted once, however often it is handed out; a started call does not wait."""
    history = History("h")
    history.user("go")
    history.reply(MODEL, [call("a"), call("b")])
    waiting = WaitingCall("h", find(history, "a"), "a", {})
    note_waiting(history, waiting)
    note_waiting(history, waiting)
    assert waiting_calls(history) == (waiting,) and len(history.notes) == 1
    history.settle(waiting.call_id, Outcome("complete", "x"))
    assert waiting_calls(history) == ()
