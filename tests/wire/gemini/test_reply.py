"""Replies for clients of Gemini."""

from __future__ import annotations

import json
from typing import Any

from tests.wire.reencoding import read_back, sense_of, streamed, whole_body

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
from turnout.model import Block, Origin, Residue, Thinking
from turnout.streaming.events import StreamEvent
from turnout.wire.shared.reply_blocks import turn_of_events

SIGNED = Residue(Origin("gemini", "", "gemini-3-pro"), {"thought_signature": "c2ln"})
STEP: list[StreamEvent] = [
    ThinkingDelta("hm"),
    ThinkingEnd(),
    ToolCallStart("a", "look"),
    ToolCallDelta("a", '{"x":1}'),
    ToolCallComplete("a", SIGNED),
    ToolCallStart("b", "look"),
    ToolCallComplete("b"),
    Done("tool_calls", "STOP", Usage(3, 4, 9, reasoning=2)),
]


def chunks(body: bytes) -> list[Any]:
    return [json.loads(line.removeprefix("data: ")) for line in body.decode().split("\r\n\r\n") if line]


def parts(found: list[Any]) -> list[Any]:
    return [part for chunk in found for part in chunk["candidates"][0]["content"]["parts"]]


def test_only_data_lines_are_sent_and_the_last_one_says_why_it_ended() -> None:
    """Gemini CLI breaks on comments, and asks again without a finish reason."""
    body = streamed("gemini", STEP)
    last = chunks(body)[-1]

    assert all(line.startswith("data: ") for line in body.decode().split("\r\n\r\n") if line)
    assert last["candidates"][0]["finishReason"] == "STOP"
    assert last["usageMetadata"]["thoughtsTokenCount"] == 2


def test_the_first_call_of_a_step_is_signed_and_every_call_has_its_id() -> None:
    """Clients send the signature back on the very part that it came on."""
    calls = [part for part in parts(chunks(streamed("gemini", STEP))) if "functionCall" in part]

    assert [call["functionCall"]["id"] for call in calls] == ["a", "b"]
    assert [call.get("thoughtSignature") for call in calls] == ["c2ln", None]


def test_what_thinking_carries_rides_on_the_first_call() -> None:
    """Thoughts do not come back from a client of Gemini, calls do; without calls an empty text takes it."""

    def carry(block: Block) -> str | None:
        return "sealed" if isinstance(block, Thinking) else None

    called = parts(chunks(streamed("gemini", STEP, carry=carry)))
    said = parts(
        json.loads(
            f"[{whole_body('gemini', turn_of_events([*STEP[:2], Done('end')]), carry=carry).decode()}]"
        )
    )

    assert [part.get("thoughtSignature") for part in called if "functionCall" in part] == ["sealed", None]
    assert said[-1] == {"text": "", "thoughtSignature": "sealed"}


def test_the_stream_may_be_one_array() -> None:
    """As Google sends it without `alt=sse`."""
    body = streamed("gemini", STEP, array=True)

    assert parts(json.loads(body)) == parts(chunks(streamed("gemini", STEP)))
    assert sense_of(read_back("gemini", body)) == sense_of(turn_of_events(STEP))


def test_a_failure_in_mid_stream_has_no_finish_reason() -> None:
    """Gemini CLI asks again then; Google's SDK raises for the error. The array is closed."""
    for array in (False, True):
        encoder = ReplyEncoder("gemini", model="m", array=array)
        body = encoder.feed(TextDelta("Hel")) + encoder.fail(StreamError("cut", kind="truncated"))
        assert b"finishReason" not in body
        assert (json.loads(body) if array else chunks(body))[-1]["error"]["code"] == 502
