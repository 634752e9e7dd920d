"""Ollama's own chat: facts about lines, calls and ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.decoding import decode, ollama, stream, turn

from turnout.model import Text, Thinking, ToolCall, Usage
from turnout.streaming.events import Done, Error, TextDelta


def line(done: bool = False, reason: str = "", **message: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"message": {"role": "assistant", **message}, "done": done}
    return {**fields, "done_reason": reason} if reason else fields


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}}


END = {**line(True, "stop", content=""), "prompt_eval_count": 5, "eval_count": 2}


def test_lines_add_up_to_thinking_text_and_calls() -> None:
    """The counts come with the end; calls are the reason for stopping."""
    ended = turn(
        ollama(),
        line(content="", thinking="h"),
        line(content="", thinking="m"),
        line(content="So."),
        line(content="", tool_calls=[call("weather", city="Oslo"), call("weather", city="Rome")]),
        END,
    )

    assert [type(block) for block in ended.blocks] == [Thinking, Text, ToolCall, ToolCall]
    assert [call.arguments for call in ended.tool_calls] == [{"city": "Oslo"}, {"city": "Rome"}]
    assert (ended.stop, ended.raw_stop) == ("tool_calls", "stop")
    assert ended.usage == Usage(5, 2)


def test_thinking_remembers_the_field_it_came_in() -> None:
    """It goes back the same way."""
    thinking, _ = turn(ollama(), line(thinking="hm"), line(content="yes"), END).blocks

    assert thinking.residue is not None and thinking.residue.data == {"field": "thinking"}


def test_two_equal_calls_without_ids_are_two_calls() -> None:
    """Older builds give calls no ids at all."""
    ended = turn(ollama(), line(tool_calls=[call("roll"), call("roll")]), END)

    assert [call.name for call in ended.tool_calls] == ["roll", "roll"]
    assert len({call.id for call in ended.tool_calls}) == 2


def test_a_body_that_was_not_streamed_is_one_line() -> None:
    """With the same outcome."""
    body = b'{"message":{"content":"Yes."},"done":true,"done_reason":"length","eval_count":1}'

    assert decode(ollama(), body) == [
        TextDelta("Yes."),
        Usage(None, 1),
        Done("length", "length", Usage(None, 1)),
    ]


def test_s_91_think_tags_are_thinking_where_the_dialect_says_so() -> None:
    """Models without a template of their own write them into the text."""
    pieces = [line(content=piece) for piece in ("<thi", "nk>hm</think>", "yes")]
    told, plain = turn(ollama(think_tags="think"), *pieces, END), turn(ollama(), *pieces, END)

    assert (told.thinking, told.text) == ("hm", "yes")
    assert (plain.thinking, plain.text) == ("", "<think>hm</think>yes")


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"error": "model 'x' not found, try pulling it first"}, "not_found"),
        ({"error": "unexpected EOF"}, "server"),
        ("<html>", "malformed"),
        ('{"message":{"content":"a', "truncated"),
        ("[]", "malformed"),
        ({"done": False}, "malformed"),
    ],
)
def test_s_105_errors_inside_a_good_answer_are_typed(payload: Any, kind: str) -> None:
    """What came before stays; nothing after counts."""
    events = stream(ollama(), line(content="a"), payload, END)

    assert events[0] == TextDelta("a")
    assert isinstance(events[1], Error) and events[1].kind == kind
    assert len(events) == 2


def test_a_stream_whose_last_line_is_not_done_is_truncated() -> None:
    """Whatever it said."""
    events = stream(ollama(), line(content="a"))

    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "message",
                    "done",
                    "content",
                    "thinking",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "error",
                    "id",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(VALUE, max_size=6))
def test_no_line_however_odd_makes_it_raise(payloads: list[Any]) -> None:
    """There is always one last event that says how it ended, and always a turn."""
    decoder = ollama()
    events = stream(decoder, *payloads, *[{"message": payload} for payload in payloads])

    assert [event for event in events if isinstance(event, Done | Error)] == events[-1:]
    decoder.reply.turn()
    assert isinstance([*ollama().whole(payloads[0] if payloads else None)][-1], Done | Error)


def test_words_before_a_stray_closing_tag_stay_visible() -> None:
    """Nothing follows the tag, so the words are the answer; before a call they are the thinking."""
    alone = turn(ollama(think_tags="think"), line(content="Hello</think>"), END)
    before_a_call = turn(
        ollama(think_tags="think"), line(content="Hello</think>", tool_calls=[call("weather")]), END
    )

    assert (alone.text, alone.thinking) == ("Hello", "")
    assert (before_a_call.text, before_a_call.thinking) == ("", "Hello")
