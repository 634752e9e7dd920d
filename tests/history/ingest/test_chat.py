"""Chat messages, in the dialects of its servers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import blocks
from tests.history.ingest.telling import (
    assistant,
    call,
    codes,
    outcomes,
    text,
    user,
)

from turnout.history.ingest import ingest
from turnout.model import Media, Origin, Text


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({"reasoning_content": "hm"}, {"field": "reasoning_content"}),
        ({"reasoning": "hm"}, {"field": "reasoning"}),
        ({"thinking": "hm"}, {"field": "thinking"}),
        (
            {"reasoning_text": "hm", "reasoning_opaque": "xyz"},
            {"field": "reasoning_text", "reasoning_opaque": "xyz"},
        ),
        (
            {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
            {"field": "reasoning", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        ),
        (
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        ),
        ({"reasoning": "hm", "reasoning_content": "hm"}, {"field": "reasoning_content"}),
    ],
)
def test_chat_reasoning_knows_the_field_it_came_in(fields: dict[str, Any], data: dict[str, Any]) -> None:
    """It goes back in the same field."""
    thinking, said = blocks([assistant("hi", **fields)], origin="deepseek:r")

    assert (thinking.text, thinking.residue.data) == ("hm", data)
    assert thinking.residue.origin == Origin("deepseek", "", "r")
    assert said == Text("hi")


def test_mistral_thinking_chunks_keep_what_is_not_text() -> None:
    """The other fields of a chunk are in its residue."""
    chunk = {"type": "thinking", "closed": True, "thinking": [text("h"), text("m")]}
    thinking, _ = blocks([assistant([chunk, text("hi")])], "mistral")

    assert (thinking.text, thinking.residue.data) == (
        "hm",
        {"thinking_chunk": {"type": "thinking", "closed": True}},
    )


def test_a_call_keeps_what_its_provider_put_beside_it() -> None:
    """Fields such as `extra_content` are in its residue."""
    extra = {"google": {"thought_signature": "sig"}}
    (made,) = blocks([assistant(None, call("a", extra_content=extra))], "gemini", origin="gemini:g")

    assert made.residue.data == {"extra_content": extra}


def test_calls_of_the_time_before_tool_calls() -> None:
    """`function_call` and the role `function` are read as a call and its result."""
    old = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"p":1}'}}
    history = ingest([user("go"), old, {"role": "function", "name": "read", "content": "42"}])

    assert outcomes(history) == [("read", "complete", "42")]
    assert codes(history) == []


def test_ollamas_own_messages() -> None:
    """Arguments are an object, results name their tool, nothing has an id."""
    body = {
        "model": "qwen3",
        "messages": [
            {"role": "user", "content": "look", "images": ["iVBORabc"]},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {"n": 1}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "42"},
        ],
    }
    history = ingest(body, "ollama")

    assert history.turns[0].blocks[1] == Media("image/png", "iVBORabc")
    assert outcomes(history) == [("f", "complete", "42")]
    assert codes(history) == []


def test_a_custom_tools_call_is_its_text() -> None:
    """Its free text is the argument `input`."""
    custom = {"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    (made,) = blocks([assistant(None, custom)])

    assert (made.name, made.arguments, made.residue.data) == ("sh", {"input": "ls -l"}, {"custom": True})


def test_a_refusal_is_what_the_model_said() -> None:
    """The text of a refusal is text of the model."""
    assert blocks([assistant(None, refusal="No.")]) == (Text("No."),)
