"""Transcripts: which turns are told in words, and which are not."""

from __future__ import annotations

import pytest
from tests.build import call, conversation, model, settled, shape, user

from turnout.history.log import History
from turnout.model import Message
from turnout.providers import target
from turnout.providers.request import reader
from turnout.rendering.transcript import Transcript


def two_calls() -> History:
    """Turns h.1 (user), h.2 (a), h.3 (user), h.4 (b), h.5 (user)."""
    return conversation(
        user("go"),
        model(call("a")),
        settled("a", "A"),
        user("and"),
        model(call("b")),
        settled("b", "B"),
        user("so"),
    )


def flat(history: History, through: str) -> tuple[Message, ...]:
    return Transcript(history, reader(target("openai:gpt-5.1"), flat_through=through)).messages


@pytest.mark.parametrize(
    ("through", "calls"),
    [
        ("", ["a", "b"]),
        ("h.1", ["a", "b"]),
        ("h.2", ["b"]),  # the named turn is told in words too
        ("h.3", ["b"]),  # the one after it is not
        ("h.4", []),
        ("h.5", []),
        ("nobody", ["a", "b"]),
    ],
)
def test_tool_history_is_told_in_words_through_the_named_turn(through: str, calls: list[str]) -> None:
    """That turn is the last one; what comes after it keeps its calls and results."""
    messages = flat(two_calls(), through)
    assert [item.name for message in messages for item in message.tool_calls] == calls
    assert [item.name for message in messages for item in message.responses] == calls
    words = " ".join(str(block) for message in messages for block in message.blocks)
    assert "A" in words and "B" in words  # nothing is lost either way


def test_a_flat_call_leaves_no_call_to_answer() -> None:
    """What it did is said in the place of the call and its result."""
    assert shape(flat(two_calls(), "h.2"))[:1] == ["user"]
    assert "tool(a)" not in shape(flat(two_calls(), "h.2"))
    assert shape(flat(two_calls(), "h.2"))[-3:] == ["model(b)", "tool(b)", "user"]
