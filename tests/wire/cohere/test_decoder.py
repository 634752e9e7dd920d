"""Cohere's events: plans, calls by index, citations on their text, and failures."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.decoding import cohere, decode, stream, turn

from turnout.model import Opaque, Text, Thinking, Usage
from turnout.streaming.events import Done, Error

USAGE = {"billed_units": {"input_tokens": 1}, "tokens": {"input_tokens": 40, "output_tokens": 9}}
END = {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {**USAGE, "cached_tokens": 16}}}
CITED = {"start": 0, "end": 2, "text": "20", "sources": [{"type": "tool", "id": "w:0"}]}


def event(kind: str, index: int = 0, **message: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}


def test_a_plan_is_a_block_of_its_own_before_the_calls() -> None:
    """It is neither the answer nor thinking, and every Cohere model may have it back."""
    ended = turn(
        cohere(),
        event("tool-plan-delta", tool_plan="I will "),
        event("tool-plan-delta", tool_plan="look."),
        event("tool-call-start", tool_calls={"id": "w_1", "function": {"name": "weather", "arguments": ""}}),
        event("tool-call-delta", tool_calls={"function": {"arguments": '{"city":'}}),
        event("tool-call-delta", tool_calls={"function": {"arguments": '"Paris"}'}}),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    )
    plan, called = ended.blocks
    assert isinstance(plan, Opaque) and (plan.kind, plan.text) == ("tool_plan", "I will look.")
    assert plan.residue is not None and plan.residue.scope == "provider"
    assert called.arguments == {"city": "Paris"} and called.raw_id == "w_1"  # type: ignore[union-attr]
    assert (ended.text, ended.thinking, ended.stop, ended.raw_stop) == ("", "", "tool_calls", "TOOL_CALL")


def test_citations_ride_on_the_text_that_they_are_about() -> None:
    """They come while the text is open, and go into its residue."""
    ended = turn(
        cohere(),
        event("content-start", content={"type": "thinking", "thinking": ""}),
        event("content-delta", content={"thinking": "hm"}),
        {"type": "content-end", "index": 0},
        event("content-start", 1, content={"type": "text", "text": ""}),
        event("content-delta", 1, content={"text": "20 degrees"}),
        event("citation-start", citations=CITED),
        {"type": "citation-end", "index": 0},
        {"type": "content-end", "index": 1},
        END,
    )
    thought, text = ended.blocks
    assert isinstance(thought, Thinking) and thought.text == "hm"
    assert isinstance(text, Text) and text.residue is not None and text.residue.data == {"citations": [CITED]}
    assert ended.usage == Usage(40, 9, cached_input=16)


def test_a_whole_body_says_the_same_as_a_stream() -> None:
    """Content, plan, calls and counts in one object."""
    message = {
        "content": [{"type": "text", "text": "20"}],
        "citations": [CITED],
        "tool_plan": "Plan.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "x", "arguments": ""}}],
    }
    decoder = cohere()
    events = list(decoder.whole({"message": message, "finish_reason": "TOOL_CALL", "usage": USAGE}))
    ended = decoder.reply.turn()
    assert isinstance(events[-1], Done) and [type(block).__name__ for block in ended.blocks] == [
        "Text",
        "Opaque",
        "ToolCall",
    ]
    assert ended.tool_calls[0].arguments == {} and not ended.tool_calls[0].fault


@pytest.mark.parametrize(
    "payload",
    [
        {"message": "too many tokens: size limit exceeded"},
        {"type": "message-end", "delta": {"error": "internal server error", "finish_reason": "ERROR"}},
        "not json",
        [1],
    ],
)
def test_a_failure_in_the_stream_is_said(payload: Any) -> None:
    """In whatever shape it comes; the text before it is kept."""
    decoder = cohere()
    events = stream(decoder, event("content-delta", content={"text": "a"}), payload, END)
    assert isinstance(events[-1], Error) and decoder.reply.turn().text == "a"


def test_a_stream_without_its_end_was_cut() -> None:
    """`[DONE]` alone does not end a reply."""
    events = stream(cohere(), event("content-delta", content={"text": "a"}), "[DONE]")
    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KINDS = (
    "content-start",
    "content-delta",
    "tool-call-start",
    "tool-call-delta",
    "citation-start",
    "message-end",
)


@given(st.lists(st.fixed_dictionaries({"type": st.sampled_from(KINDS), "delta": JSON, "index": JSON})), JSON)
def test_any_payloads_end_in_one_way(payloads: list[Any], body: Any) -> None:
    """Nothing raises, whatever the shape; the last event is `Done` or `Error`."""
    assert isinstance(stream(cohere(), *payloads)[-1], Done | Error)
    assert isinstance(list(cohere().whole(body))[-1], Done | Error)


def test_cut_bytes_make_no_difference() -> None:
    """Named events as they come over the wire, cut in two at every place."""
    body = (
        b"event: content-delta\n"
        b'data: {"type":"content-delta","delta":{"message":{"content":{"text":"Hi"}}}}\n\n'
        b"event: message-end\n"
        b'data: {"type":"message-end","delta":{"finish_reason":"COMPLETE"}}\n\ndata: [DONE]\n\n'
    )
    whole = decode(cohere(), body)
    assert isinstance(whole[-1], Done)
    assert all(decode(cohere(), body[:at], body[at:]) == whole for at in range(1, len(body)))
