"""A reply before any provider's words for it."""

from __future__ import annotations

import pytest

from turnout.errors import UsageError
from turnout.wire.shared.reply import Call, ReplyParts, Say, Think, stop_word


def test_a_reply_is_its_parts() -> None:
    """Hidden thinking has no text."""
    reply = ReplyParts((Think("Hm."), Think("secret", hidden=True), Say("I "), Say("look."), Call("read")))

    assert (reply.text, reply.thinking) == ("I look.", "Hm.")
    assert [call.name for call in reply.calls] == ["read"]


def test_calls_decide_why_a_reply_ends() -> None:
    """Unless the reply says it."""
    assert ReplyParts((Say("Hi."),)).ends == "end"
    assert ReplyParts((Call("read"),)).ends == "tool_calls"
    assert ReplyParts((Call("read"),), stop="length").ends == "length"


def test_a_protocol_without_a_word_for_the_end_says_so() -> None:
    """The message lists the ends that it has words for."""
    with pytest.raises(UsageError, match=r"no word for .* 'paused'; end it with one of: end"):
        stop_word({"end": "stop"}, ReplyParts(stop="paused"), "Chat")
