"""Converse requests: roles in turn, results first, calls last, tools declared, one cache point at the end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, model, settled, user

from turnout import History, UsageError, check, render
from turnout.model import Media, Origin, Residue, Text, Thinking
from turnout.wire.converse.encoder import NO_CALLS

CLAUDE = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "bedrock:us.amazon.nova-2-lite-v1:0"
LLAMA = "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0"
OLD_LLAMA = "bedrock:meta.llama3-8b-instruct-v1:0"
TOOLS = ({"name": "look", "parameters": {"type": "object", "properties": {}}},)


def body_of(history: History, to: str, **options: Any) -> dict[str, Any]:
    request = render(history, to, **options)
    assert check("bedrock", request.body, model=request.target.model, warnings=True) == []
    return request.json


def called() -> History:
    return conversation(user("go"), model("So.", call("look", "1")), settled("1", "seen"))


def kinds(message: dict[str, Any]) -> list[str]:
    return [next(iter(block)) for block in message["content"]]


def test_results_come_first_and_calls_last() -> None:
    """Also where the model spoke after its call."""
    history = conversation(user("go"), model(call("look", "1"), "And?"), settled("1", "seen"), user("on"))
    first, second, third = body_of(history, LLAMA)["messages"]
    assert (kinds(first), kinds(second), kinds(third)) == (
        ["text"],
        ["text", "toolUse"],
        ["toolResult", "text"],
    )


def test_a_conversation_starts_and_ends_with_the_user() -> None:
    """Fillers stand for what was not said."""
    history = conversation(model("Hello."))
    assert [message["role"] for message in body_of(history, NOVA)["messages"]] == [
        "user",
        "assistant",
        "user",
    ]


def test_tools_are_declared_whenever_the_history_has_calls() -> None:
    """BDK-03: also when the request offers none."""
    body = body_of(called(), CLAUDE)
    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"] if "toolSpec" in tool] == [
        "look"
    ]


def test_none_is_said_in_words_where_tools_must_be_declared() -> None:
    """Converse has no word for it; without calls in the history the tools are left out."""
    said = body_of(called(), CLAUDE, tools=TOOLS, tool_choice="none")
    assert {"text": NO_CALLS} in said["messages"][-1]["content"]
    fresh = render(conversation(user("hi")), CLAUDE, tools=TOOLS, tool_choice="none")
    assert "toolConfig" not in fresh.json
    assert any("tools left out" in line and "look" in line for line in fresh.changes)


def test_the_cache_ends_with_the_last_message_where_the_model_has_a_cache() -> None:
    """The messages before it stay as they were sent."""
    assert kinds(body_of(called(), CLAUDE)["messages"][-1]) == ["toolResult", "cachePoint"]
    assert kinds(body_of(called(), LLAMA)["messages"][-1]) == ["toolResult"]
    assert kinds(body_of(called(), CLAUDE, cache=False)["messages"][-1]) == ["toolResult"]


def test_models_without_tools_read_calls_in_words() -> None:
    """And no tools are declared to them."""
    body = body_of(called(), OLD_LLAMA, tools=TOOLS)
    assert "toolConfig" not in body
    assert "look" in body["messages"][1]["content"][-1]["text"]


def test_models_without_system_text_get_it_from_the_user() -> None:
    """The report says so."""
    request = render(conversation(user("hi")), "bedrock:amazon.titan-text-lite-v1", system="Be brief.")
    assert "system" not in request.json
    assert "Be brief." in request.json["messages"][0]["content"][-1]["text"]
    assert any("system text" in line for line in request.changes)


def test_signed_thinking_goes_back_to_its_model_alone() -> None:
    """Hidden thinking too; a thought without a signature is left out."""
    origin = Origin.parse(CLAUDE)
    history = History("h")
    history.user("hi")
    history.reply(
        origin,
        (
            Thinking("I see", Residue(origin, {"signature": "c2lnbmVk"})),
            Thinking("", Residue(origin, {"redacted": "aGlkZGVu"})),
            Thinking("bare", Residue(origin, {"unsigned": True})),
            Text("Hello."),
        ),
    )
    history.user("on")
    home = body_of(history, CLAUDE)["messages"][1]["content"]
    assert home == [
        {"reasoningContent": {"reasoningText": {"text": "I see", "signature": "c2lnbmVk"}}},
        {"reasoningContent": {"redactedContent": "aGlkZGVu"}},
        {"text": "Hello."},
    ]
    assert kinds(body_of(history, NOVA)["messages"][1]) == ["text"]


def test_a_document_has_a_text_beside_it_and_a_name_of_its_own() -> None:
    """Converse refuses documents without a text, and two of one name."""
    pdf = Media("application/pdf", "JVBERi0xLjQK", name="a/b:c.pdf")
    body = body_of(conversation(user(pdf, pdf)), CLAUDE)
    documents = [block["document"]["name"] for block in body["messages"][0]["content"] if "document" in block]
    assert documents == ["a-b-c", "a-b-c 2"]
    assert "text" in kinds(body["messages"][0])


def test_a_model_that_cannot_be_forced_is_not_asked_to() -> None:
    """The message names the way on."""
    with pytest.raises(UsageError, match="cannot be forced to call a tool; use tool_choice='auto'"):
        render(conversation(user("hi")), LLAMA, tools=TOOLS, tool_choice="required")
