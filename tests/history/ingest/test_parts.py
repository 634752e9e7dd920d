"""Parts of any family in any message, and unknown ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import RESULT, blocks
from tests.history.ingest.telling import (
    assistant,
    call,
    codes,
    content,
    outcomes,
    parts,
    result,
    story,
    text,
    tool,
    user,
)

from turnout.history.ingest import ingest
from turnout.model import Text


def _chat_call(**fields: Any) -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **fields}
    return [user("?"), {"role": "assistant", "content": None, "tool_calls": [call]}, RESULT]


@pytest.mark.parametrize(
    ("form", "messages", "named"),
    [
        ("openai-chat", _chat_call(new=1), "tool_calls.new"),
        ("openai-chat", [user("?"), {"role": "assistant", "annotations": [{}]}], "message.annotations"),
        ("openai-chat", _chat_call(function={"name": "f", "arguments": "{}", "new": 1}), "function.new"),
        (
            "openai-responses",
            [
                user("?"),
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "new": 1},
                {"type": "function_call_output", "call_id": "c1", "output": "x"},
            ],
            "function_call.new",
        ),
        (
            "openai-responses",
            [
                user("?"),
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "x", "new": 1},
            ],
            "function_call_output.new",
        ),
        ("gemini", [{"role": "user", "parts": [{"text": "?"}], "new": 1}], "content.new"),
        (
            "gemini",
            [
                {"role": "user", "parts": [{"text": "?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "new": 1}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": 1}}}]},
            ],
            "functionCall.new",
        ),
        (
            "gemini",
            [
                {"role": "user", "parts": [{"text": "?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "scheduling": "SILENT"}}]},
            ],
            "functionResponse.scheduling",
        ),
    ],
)
def test_a_field_that_nobody_reads_is_named(form: str, messages: list[Any], named: str) -> None:
    """Of calls and results as of messages and parts."""
    found = [item.detail for item in ingest(messages, form).diagnostics if item.code == "unknown_field"]
    assert found == [named]


def test_an_unknown_block_is_kept_whole_and_said_so() -> None:
    """Its provider gets it back."""
    block = {"type": "hologram", "text": "shimmer", "depth": 3}
    history = ingest([assistant([block])], "anthropic")

    (kept,) = history.turns[0].blocks
    assert (kept.kind, kept.residue.data) == ("hologram", {"block": block})
    assert kept.text == '[hologram] {"text":"shimmer","depth":3}'
    assert codes(history) == ["unknown_block"]


# Mixed shapes


def test_messages_of_other_formats_among_ours_are_read_as_what_they_are() -> None:
    """Real histories mix families."""
    history = ingest(
        [
            user("a"),
            content("human", text("b")),
            parts("user", {"text": "c"}),
            {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"},
            user([result("x", "42")]),
            "d",
        ]
    )

    assert story(history) == ["user: a", "user: b", "user: c", "model: f", "user: d"]
    assert outcomes(history) == [("f", "complete", "42")]


def test_a_message_inside_a_messages_content_is_what_it_says() -> None:
    """Its content is read in its place."""
    assert blocks([user([user("a"), {"role": "user", "content": [text("b")]}])]) == (Text("a"), Text("b"))


def test_results_inside_a_tool_message_are_results_of_their_own() -> None:
    """A part that names a call answers that call."""
    both = {"role": "tool", "content": [result("a", "1"), result("b", "2")]}
    history = ingest([assistant(None, call("a", "f"), call("b", "g")), both])

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]


def test_an_answer_in_another_familys_terms_still_answers() -> None:
    """OpenAI's call, Anthropic's result, and a call without id answered under an invented one."""
    history = ingest(
        [assistant(None, call("a", "f"), call("", "g")), user([result("a", "1")]), tool("made_up", "2")]
    )

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]
