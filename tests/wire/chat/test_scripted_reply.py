"""A reply as Chat servers write it."""

from __future__ import annotations

from tests.simulate.targets import speaker

from turnout.plain import loads
from turnout.wire.chat.scripted_reply import REPLY
from turnout.wire.shared.reply import Call, ReplyParts, Say, Think

AUTHOR = speaker("kimi:kimi-k2.6")
SAID = ReplyParts((Think("Hm."), Say("I look."), Call("read", {"path": "a.txt"})))


def test_each_server_shows_its_thinking_elsewhere() -> None:
    """Kimi in reasoning_content; OpenAI does not show it."""
    kimi = REPLY.whole(SAID, AUTHOR, None)["choices"][0]["message"]
    openai = REPLY.whole(SAID, speaker("openai:gpt-4o"), None)["choices"][0]["message"]

    assert kimi["reasoning_content"] == "Hm." and "Hm." not in str(openai)


def test_each_server_has_its_own_ids() -> None:
    """Kimi counts the calls of the conversation."""
    call = REPLY.whole(SAID, AUTHOR, None)["choices"][0]["message"]["tool_calls"][0]

    assert call["id"] == "functions.read:0"
    assert loads(call["function"]["arguments"]) == {"path": "a.txt"}


def test_a_stream_ends_with_done() -> None:
    """Unless the server is odd."""
    held = REPLY.whole(SAID, AUTHOR, None)

    assert REPLY.stream(held, AUTHOR, ()).ending[-1].data == b"[DONE]"
    assert REPLY.stream(held, AUTHOR, ("no_done",)).ending[-1].data != b"[DONE]"
