"""Outcomes as people write them: typed, in few words, and the same at run time."""

from __future__ import annotations

from turnout.history.log import History
from turnout.model import Media, Outcome, Text, ToolCall

PICTURE = Media("image/png", data="AA==")


def test_an_outcome_takes_text_json_or_blocks() -> None:
    """What a type checker lets through is what works: text, a block, blocks, or a JSON value."""
    assert Outcome("complete", "42").content == (Text("42"),)
    assert Outcome("complete", Text("42")).content == (Text("42"),)
    assert Outcome("complete", [Text("see"), PICTURE]).content == (Text("see"), PICTURE)
    assert Outcome("complete", {"n": 42}).content == (Text('{"n":42}'),)
    assert Outcome("complete", [1, 2]).content == (Text("[1,2]"),)
    assert Outcome("complete", 42).text == "42"
    assert Outcome("complete", None).content == Outcome("complete").content == ()


def test_a_call_without_an_id_is_given_one() -> None:
    """Whoever writes a conversation by hand names the tool and its arguments, no more."""
    history = History("by hand")
    history.user("what is the weather?")
    turn = history.reply("openai:gpt-5", [ToolCall(name="weather", arguments={"city": "Rome"})])
    (call,) = turn.tool_calls
    assert call.id and call.name == "weather"
    history.settle(call.id, Outcome("complete", "18 degrees"))
    assert history.interaction(call.id).status == "complete"
