"""A reply as Gemini writes it."""

from __future__ import annotations

from tests.simulate.targets import speaker

from turnout.plain import loads
from turnout.wire.gemini.scripted_reply import REPLY
from turnout.wire.shared.reply import Call, ReplyParts, Say, Think

AUTHOR = speaker("gemini:gemini-3-pro-preview")
SAID = ReplyParts((Think("Hm."), Say("I look."), Call("read", {"path": "a.txt"})))


def test_the_first_call_of_a_step_is_signed() -> None:
    """GEM-07: a reply without calls carries its signature on an empty text."""
    parts = REPLY.whole(SAID, AUTHOR, None)["candidates"][0]["content"]["parts"]
    assert parts[-1]["functionCall"]["name"] == "read" and parts[-1]["thoughtSignature"]

    parts = REPLY.whole(ReplyParts((Say("Hi."),)), AUTHOR, None)["candidates"][0]["content"]["parts"]
    assert parts[-1]["text"] == "" and parts[-1]["thoughtSignature"]


def test_models_before_gemini_3_give_no_ids() -> None:
    """Their calls are answered by position."""
    old = speaker("gemini:gemini-2.5-pro")
    parts = REPLY.whole(ReplyParts((Call("read"),)), old, None)["candidates"][0]["content"]["parts"]

    assert "id" not in parts[0]["functionCall"]


def test_the_last_chunk_says_why_the_reply_ends() -> None:
    """The others have no finish reason."""
    stream = REPLY.stream(REPLY.whole(SAID, AUTHOR, None), AUTHOR, ())

    assert loads(stream.ending[-1].data)["candidates"][0]["finishReason"] == "STOP"
    assert all("finishReason" not in loads(frame.data)["candidates"][0] for frame in stream.body)
