"""Replies for clients of Chat Completions."""

from __future__ import annotations

import json
from typing import Any

from tests.wire.reencoding import streamed, whole_body

from turnout import (
    Done,
    ReplyEncoder,
    StreamError,
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from turnout.streaming.events import StreamEvent
from turnout.wire.shared.reply_blocks import turn_of_events

CALLS: list[StreamEvent] = [
    ThinkingDelta("hm"),
    ThinkingEnd(),
    TextDelta("Let me see."),
    ToolCallStart("a", "look"),
    ToolCallDelta("a", '{"x"'),
    ToolCallDelta("a", ":1}"),
    ToolCallComplete("a"),
    ToolCallStart("b", "read"),
    ToolCallComplete("b"),
    Done("tool_calls", "tool_calls", Usage(5, 7)),
]


def chunks(body: bytes) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_each_call_is_complete_in_one_delta() -> None:
    """mistralai's client does not put pieces of a call together."""
    calls = [call for chunk in chunks(streamed("chat", CALLS)) for call in _calls(chunk)]

    assert [(call["index"], call["id"], call["function"]) for call in calls] == [
        (0, "a", {"name": "look", "arguments": '{"x":1}'}),
        (1, "b", {"name": "read", "arguments": "{}"}),
    ]


def _calls(chunk: Any) -> Any:
    return chunk["choices"][0]["delta"].get("tool_calls", [])


def test_the_last_chunk_has_a_choice_and_the_counts() -> None:
    """So that every client finds them; without `include_usage` they are left out."""
    last = chunks(streamed("chat", CALLS))[-1]

    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert (last["usage"]["prompt_tokens"], last["usage"]["completion_tokens"]) == (5, 7)
    assert "usage" not in chunks(streamed("chat", CALLS, include_usage=False))[-1]


def test_thinking_is_reasoning_content_streamed_and_whole() -> None:
    """The field that clients of Chat know."""
    said = [
        chunk["choices"][0]["delta"].get("reasoning_content") for chunk in chunks(streamed("chat", CALLS))
    ]
    message = json.loads(whole_body("chat", turn_of_events(CALLS)))["choices"][0]["message"]

    assert "hm" in said
    assert message["reasoning_content"] == "hm"
    assert message["content"] == "Let me see."


def test_a_failure_in_mid_stream_is_an_error_object_without_the_end_mark() -> None:
    """Clients raise their own error, or ask again."""
    encoder = ReplyEncoder("chat", model="m")
    body = (
        encoder.start() + encoder.feed(TextDelta("Hel")) + encoder.fail(StreamError("cut", kind="truncated"))
    )

    assert b"[DONE]" not in body
    assert json.loads(body.split(b"data: ")[-1])["error"]["message"] == "cut"
