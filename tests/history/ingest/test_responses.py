"""Items of Responses: reasoning, calls, outputs, and what OpenAI holds."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import RESULT, blocks
from tests.history.ingest.telling import (
    codes,
    outcomes,
    story,
    user,
)

from turnout.history.ingest import ingest
from turnout.model import ModelTurn, UserTurn
from turnout.targets.inbound import read_request
from turnout.targets.request import render


def test_a_reasoning_item_is_kept_whole_before_what_it_led_to() -> None:
    """OpenAI needs the item before its message or call."""
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "e",
    }
    items = [
        item,
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
    ]
    kept = blocks(items, "openai-responses")

    assert [type(block).__name__ for block in kept] == ["Thinking", "ToolCall", "Thinking", "ToolCall"]
    assert (kept[0].text, kept[0].residue.data) == ("hm", {"item": item})


def test_what_is_said_after_a_call_takes_its_reasoning_along() -> None:
    """Text after a call begins a new turn with its reasoning."""
    items = [
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "message", "role": "assistant", "content": "so"},
    ]
    first, second = ingest(items, "openai-responses").turns

    assert [type(block).__name__ for block in first.blocks] == ["ToolCall"]
    assert [type(block).__name__ for block in second.blocks] == ["Thinking", "Text"]


def test_a_messages_id_and_phase_ride_on_its_text() -> None:
    """They go back to OpenAI with the text."""
    item = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}],
    }
    (said,) = blocks([item], "responses")

    assert said.residue.data == {"id": "msg_1", "phase": "commentary"}


def test_hosted_tools_are_kept_whole_and_references_noted() -> None:
    """They are not paired with calls of ours."""
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}}
    history = ingest([user("?"), search, {"type": "item_reference", "id": "rs_1"}], "openai-responses")

    (kept,) = history.turns[1].blocks
    assert (kept.kind, kept.residue.data) == ("web_search_call", {"item": search})
    assert [note.kind for note in history.notes] == ["item_reference"]


@pytest.mark.parametrize("reference", [{"type": "item_reference", "id": "fc_1"}, {"id": "fc_1"}])
def test_an_item_that_lies_at_the_provider_is_named_and_its_output_stays(reference: dict[str, Any]) -> None:
    """The reference is all that the body says of the call; what came of it is told as ever."""
    output = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
    history = ingest([user("?"), reference, output], "openai-responses")

    assert [(item.code, item.detail) for item in history.diagnostics] == [
        ("unknown_call", "call_1"),
        ("held_by_provider", "fc_1"),
    ]
    assert "sunny" in str(render(history, "anthropic:claude-sonnet-4-5").json)


def test_what_stands_before_a_result_in_a_chained_body_is_sent() -> None:
    """All of such a body is new: the response that it goes on from holds none of it."""
    output = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
    body = {"input": [user("hurry"), output, user("more")], "previous_response_id": "resp_1"}
    inbound = read_request(body, "openai-responses", "openai-responses:gpt-5.1")
    sent = render(inbound.history, "openai-responses:gpt-5.1", options=inbound.options).json

    assert sent["previous_response_id"] == "resp_1"
    assert [item.get("content") or item["output"] for item in sent["input"]] == ["sunny", "hurry", "more"]


def test_a_call_of_a_kind_to_come_keeps_its_input() -> None:
    """Chat has functions and custom tools; the next kind will look like them."""
    call = {"id": "c1", "type": "query", "query": {"name": "sql", "input": "SELECT 1"}}
    history = ingest([user("?"), {"role": "assistant", "tool_calls": [call]}, RESULT], "openai-chat")
    assert [(each.name, each.arguments) for each in history.turns[1].tool_calls] == [
        ("sql", {"input": "SELECT 1"})
    ]


def test_an_output_is_the_clients_unless_the_provider_ran_the_call() -> None:
    """Also of a kind to come. It stands in a turn of whoever sent it."""
    output = {"type": "query_output", "call_id": "c1", "output": "x"}
    assert [type(turn) for turn in ingest([user("?"), output], "responses").turns] == [UserTurn, UserTurn]

    call = {"type": "shell_call", "call_id": "c1", "action": {}, "environment": {"type": "container_auto"}}
    ran = {"type": "shell_call_output", "call_id": "c1", "output": []}
    turns = ingest([user("?"), call, ran], "responses").turns
    assert [type(turn) for turn in turns] == [UserTurn, ModelTurn]
    assert [block.kind for block in turns[1].blocks] == ["shell_call", "shell_call_output"]


def test_what_a_model_said_aloud_goes_back_by_its_id() -> None:
    """OpenAI keeps the sound for a while; others get the transcript, or a diagnostic."""
    spoken = {"role": "assistant", "audio": {"id": "audio_1"}}
    place = "openai:gpt-4o-audio-preview"
    history = ingest([user("?"), spoken, user("!")], "openai-chat", place)
    assert render(history, place).json["messages"][1]["audio"] == {"id": "audio_1"}
    told = render(history, "anthropic:claude-sonnet-4-5").report.diagnostics
    assert "opaque_omitted" in [item.code for item in told]


def test_custom_tool_calls_are_paired_with_their_outputs() -> None:
    """By call id, as other calls are."""
    items = [
        {"type": "custom_tool_call", "call_id": "a", "name": "sh", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "file"},
    ]
    history = ingest(items, "openai-responses")

    assert outcomes(history) == [("sh", "complete", "file")]
    assert next(iter(history.ledger)).call.residue.data == {"custom": True}


@pytest.mark.parametrize("held", [{"previous_response_id": "resp_1"}, {"conversation": {"id": "resp_1"}}])
def test_outputs_of_a_chained_body_answer_calls_that_the_provider_holds(held: dict[str, Any]) -> None:
    """The call is made from the output's id, its name unknown, and marked."""
    body = {
        **held,
        "model": "gpt-5.1",
        "input": [
            {"type": "function_call_output", "call_id": "a", "output": "1"},
            {"type": "function_call_output", "call_id": "b", "output": "2"},
            user("go on"),
        ],
    }
    history = ingest(body, "openai-responses")

    assert outcomes(history) == [("unknown", "complete", "1"), ("unknown", "complete", "2")]
    assert story(history) == ["model: unknown, unknown", "user: go on"]
    assert codes(history) == ["unknown_call", "unknown_call", "held_by_provider"]
    assert [item.call.raw_id for item in history.ledger] == ["a", "b"]
    assert next(iter(history.ledger)).call.residue.data == history.turns[0].residue.data
    assert list(history.turns[0].residue.data.values()) == ["resp_1"]


def test_plain_words_of_a_chained_body_go_on_from_what_the_provider_holds() -> None:
    """An opening turn without words keeps the chain, for OpenAI only."""
    body = {"model": "gpt-5.1", "previous_response_id": "resp_1", "input": "go on"}
    history = ingest(body, "openai-responses")

    assert codes(history) == ["held_by_provider"]
    chained = render(history, "openai-responses:gpt-5.1", chain=True).params
    assert (chained["previous_response_id"], len(chained["input"])) == ("resp_1", 1)
    assert len(render(history, "openai:gpt-5.1").params["messages"]) == 1


def test_responses_takes_plain_text_for_input() -> None:
    """It is one turn of the user."""
    assert story(ingest({"input": "hi"}, "openai-responses")) == ["user: hi"]
