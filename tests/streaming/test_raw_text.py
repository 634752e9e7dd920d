"""Raw model text on its way into the reply."""

from __future__ import annotations

from turnout.model import Origin
from turnout.streaming.raw_text import RawText
from turnout.streaming.reply import ReplyBuilder
from turnout.streaming.thinktags import ThinkTags

CALL = '<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>'


def reply_of(*texts: str, tags: bool = True, syntax: str = "") -> ReplyBuilder:
    reply = ReplyBuilder(Origin("vllm", "", "qwen3"), "t.1")
    raw_text = RawText(reply, ThinkTags("think") if tags else None, syntax)
    for text in texts:
        raw_text.add_text(text)
    raw_text.close()
    reply.complete_all()
    reply.done("end")
    return reply


def test_thinking_between_tags_is_taken_out_of_the_text() -> None:
    """However the text is cut."""
    turn = reply_of("<thi", "nk>Hm.</think>", "Done.").turn()

    assert (turn.thinking, turn.text) == ("Hm.", "Done.")


def test_a_call_in_the_text_becomes_a_call() -> None:
    """With the syntax of the model; without one it stays text."""
    turn = reply_of("Look:\n", CALL, tags=False, syntax="hermes").turn()

    assert [(call.name, call.arguments) for call in turn.tool_calls] == [("read", {"path": "a.txt"})]
    assert reply_of(CALL, tags=False).turn().text == CALL


def test_a_call_in_thinking_waits_until_the_thinking_ends() -> None:
    """The call stands after the thinking."""
    turn = reply_of(f"<think>Hm.\n{CALL}</think>", "Done.", syntax="hermes").turn()

    assert [type(block).__name__ for block in turn.blocks] == ["Thinking", "ToolCall", "Text"]
