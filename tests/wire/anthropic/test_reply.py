"""Replies for clients of Anthropic's Messages."""

from __future__ import annotations

import json
from typing import Any

from tests.wire.reencoding import read_back, streamed, whole_body

from turnout import (
    Done,
    OpaqueBlock,
    ProviderError,
    ReplyEncoder,
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from turnout.model import Block, Opaque, Origin, Residue, Thinking
from turnout.streaming.events import StreamEvent
from turnout.wire.shared.reply_blocks import turn_of_events

OPENAI = Residue(Origin("openai", "", "gpt-5.1"), {"item": {"encrypted_content": "secret"}})
THOUGHTFUL: list[StreamEvent] = [
    ThinkingDelta("hm"),
    ThinkingEnd(OPENAI),
    ThinkingEnd(OPENAI),
    TextDelta("Yes."),
    ToolCallStart("a", "look"),
    ToolCallDelta("a", '{"x":1}'),
    ToolCallComplete("a"),
    Done("tool_calls", "", Usage(3, 4, cached_input=2)),
]


def frames(body: bytes) -> list[Any]:
    found = []
    for frame in body.decode().split("\n\n")[:-1]:
        event, data = frame.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert event == f"event: {found[-1]['type']}"
    return found


def seal(block: Block) -> str:
    assert isinstance(block, Thinking)
    return f"sealed:{block.text}"


def test_every_event_has_its_line_and_every_block_its_end() -> None:
    """Claude Code reads nothing without the first and loses a block without the second."""
    types = [frame["type"] for frame in frames(streamed("anthropic", THOUGHTFUL, carry=seal))]

    assert types[0] == "message_start"
    assert types[-2:] == ["message_delta", "message_stop"]
    assert types.count("content_block_start") == types.count("content_block_stop") == 4


def test_what_belongs_to_thinking_rides_in_its_signature_or_as_redacted_thinking() -> None:
    """Clients send both back unchanged."""
    for body in (
        streamed("anthropic", THOUGHTFUL, carry=seal),
        whole_body("anthropic", turn_of_events(THOUGHTFUL), carry=seal),
    ):
        shown, hidden = [
            block for block in read_back("anthropic", body).blocks if isinstance(block, Thinking)
        ]
        assert shown.residue is not None
        assert hidden.residue is not None
        assert shown.residue.data == {"signature": "sealed:hm"}
        assert hidden.residue.data == {"redacted": "sealed:"}


def test_foreign_reasoning_without_a_carrier_has_no_signature() -> None:
    """The client must not take OpenAI's state for Anthropic's."""
    assert b"secret" not in streamed("anthropic", THOUGHTFUL)


def test_a_block_of_anthropic_itself_goes_back_as_it_was() -> None:
    """A tool that the provider ran, with its id."""
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    own = Opaque("server_tool_use", "", Residue(Origin("anthropic", "", "claude"), {"block": block}))
    found = frames(streamed("anthropic", [OpaqueBlock(own), Done("paused", "pause_turn")]))

    assert found[1]["content_block"] == block
    assert found[-2]["delta"]["stop_reason"] == "pause_turn"


def test_a_failure_in_mid_stream_is_an_error_event() -> None:
    """Claude Code asks again after it."""
    encoder = ReplyEncoder("anthropic", model="m")
    encoder.start()
    (frame,) = frames(encoder.fail(ProviderError("busy", kind="overloaded")))

    assert frame["error"] == {"type": "overloaded_error", "message": "busy"}
