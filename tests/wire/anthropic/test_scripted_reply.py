"""A reply as Anthropic writes it."""

from __future__ import annotations

from tests.simulate.targets import speaker

from turnout.plain import loads
from turnout.wire.anthropic.scripted_reply import REPLY
from turnout.wire.shared.reply import Call, ReplyParts, Say, Think

AUTHOR = speaker("anthropic:claude-sonnet-4-5")
SAID = ReplyParts((Think("Hm."), Say("I look."), Call("read", {"path": "a.txt"})))


def test_a_message_is_a_list_of_blocks() -> None:
    """Thinking is signed, a call has an id of the provider."""
    message = REPLY.whole(SAID, AUTHOR, None)

    thought, text, call = message["content"]
    assert (thought["type"], text["text"], call["name"]) == ("thinking", "I look.", "read")
    assert thought["signature"] and call["id"].startswith("toolu_")
    assert message["stop_reason"] == "tool_use"


def test_a_stream_ends_with_message_stop() -> None:
    """Without its ending a reader treats it as cut off."""
    stream = REPLY.stream(REPLY.whole(SAID, AUTHOR, None), AUTHOR, ())

    assert stream.body[0].event == "message_start"
    assert [frame.event for frame in stream.ending] == ["message_delta", "message_stop"]


def test_a_whole_body_has_no_raw_arguments() -> None:
    """What the model wrote in place of JSON can only stand in a stream."""
    broken = ReplyParts((Call("read", raw="{half"),))
    held = REPLY.whole(broken, AUTHOR, None)

    assert "{half" not in str(REPLY.body(held))
    assert any(b"half" in frame.data for frame in REPLY.stream(held, AUTHOR, ()).body)
    assert loads(REPLY.stream(held, AUTHOR, ()).ending[-1].data) == {"type": "message_stop"}
