"""In whatever order a model spoke, thought and called: every provider gets an order that it takes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.build import conversation, user
from tests.laws.share import SOAK
from tests.laws.targets import TARGETS

from turnout import Code, History, Media, Origin, Outcome, Residue, Text, Thinking, ToolCall
from turnout.model import Block
from turnout.targets.request import render
from turnout.wire.check import check

EXAMPLES = 500 if SOAK else 60
RESPONSES, CLAUDE = "openai-responses:gpt-5.1", "anthropic:claude-sonnet-4-5"
WRITERS = st.sampled_from([place.origin for place in TARGETS])
KINDS = st.lists(
    st.sampled_from(["text", "blank", "call", "thought", "code", "image"]), min_size=1, max_size=7
)


def replied(kinds: list[str], writer: Origin) -> History:
    history = conversation(user("go"))
    history.reply(writer, [block_of(kind, number, writer) for number, kind in enumerate(kinds)])
    for item in history.open_calls:
        history.settle(item.call.id, Outcome("complete", "done"))
    history.user("on")
    return history


def block_of(kind: str, number: int, writer: Origin) -> Block:
    match kind:
        case "text":
            return Text(f"word {number}")
        case "blank":
            return Text(" ")
        case "call":
            return ToolCall(f"raw{number}", "f")
        case "thought":
            item = {"type": "reasoning", "summary": [], "encrypted_content": f"ZW5j{number}"}
            return Thinking("hm", Residue(writer, {"signature": "c2lnbmVk", "item": item}))
        case "code":
            return Code("1 + 1", "python")
        case _:
            return Media("image/png", "iVBORw0KGgo=")


@settings(max_examples=EXAMPLES, deadline=None)
@given(KINDS, WRITERS)
def test_nothing_stands_between_a_call_and_its_output(kinds: list[str], writer: Origin) -> None:
    """On Responses; all that was said is there, each thing in its order, reasoning before what it led to."""
    request = render(replied(kinds, writer), RESPONSES)
    items: list[dict[str, Any]] = request.json["input"]
    shown = [item["type"] for item in items if item["type"] != "reasoning"]

    calls = kinds.count("call")
    assert shown[len(shown) - 2 * calls - 1 :] == [
        *["function_call"] * calls,
        *["function_call_output"] * calls,
        "message",
    ]
    assert [word for word in kinds if word == "text"] == [
        "text" for item in items if str(item.get("content")).startswith("word")
    ]
    for item, following in pairwise(items):
        if item["type"] == "reasoning":
            assert following["type"] != "function_call_output" and following.get("role") != "user"
    assert check(RESPONSES, request.body) == []


@settings(max_examples=EXAMPLES, deadline=None)
@given(KINDS, WRITERS)
def test_calls_come_last_in_turns_that_claude_did_not_write(kinds: list[str], writer: Origin) -> None:
    """Claude's own turns keep the order in which they came: signed thoughts have their places."""
    request = render(replied(kinds, writer), CLAUDE)
    said = [message["content"] for message in request.json["messages"] if message["role"] == "assistant"]
    sent = [block["type"] for content in said for block in content]
    assert check(CLAUDE, request.body) == []

    if "claude" not in writer.model:
        assert sent == sorted(sent, key=lambda kind: kind == "tool_use")
    elif writer == Origin.parse(CLAUDE):
        spoken = {"text": "text", "code": "text", "image": "text", "call": "tool_use", "thought": "thinking"}
        wanted = [spoken[kind] for kind in kinds if kind != "blank"]
        assert [kind for kind in sent if kind != "text"] == [kind for kind in wanted if kind != "text"]
