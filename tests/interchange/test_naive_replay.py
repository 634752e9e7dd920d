"""The same history as most programs would send it: raw ids, no repairs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.build import call, conversation, model, settled, user

from turnout.interchange.naive_replay import naive_request
from turnout.wire.check import check

HISTORY = conversation(user("go"), model("ok", call("read", "raw-1", path="a")), settled("raw-1", "A"))


@pytest.mark.parametrize(
    ("target", "field", "raw_id"),
    [
        ("openai:gpt-5.1", "messages", True),
        ("openai-responses:gpt-5.1", "input", True),
        ("anthropic:claude-sonnet-4-5", "messages", True),
        ("gemini:gemini-3-pro", "contents", False),
        ("bedrock:us.anthropic.claude-sonnet-5", "messages", True),
        ("bedrock@invoke:us.anthropic.claude-sonnet-5", "messages", True),
        ("cohere:command-a-03-2025", "messages", True),
        ("vertex:claude-sonnet-5", "messages", True),
        ("ollama:qwen3", "messages", False),
    ],
)
def test_raw_ids_are_sent_as_they_came(target: str, field: str, raw_id: bool) -> None:
    """In the form of the protocol, and nothing else is changed."""
    url, body = naive_request(HISTORY, target)
    sent: dict[str, Any] = json.loads(body)
    assert url.startswith(("https://", "http://127.0.0.1")) and len(sent[field]) >= 3
    assert (b"raw-1" in body) is raw_id


@pytest.mark.parametrize("target", ["bedrock@invoke:us.anthropic.claude-sonnet-5", "vertex:claude-sonnet-5"])
def test_a_host_of_claude_gets_the_version_and_no_model(target: str) -> None:
    """Only the history is sent as it came: the fields around it are what the host asks for."""
    sent = json.loads(naive_request(HISTORY, target)[1])

    assert "anthropic_version" in sent and "model" not in sent


def test_a_call_without_result_is_sent_so() -> None:
    """That is what a provider refuses, and what the doctor shows."""
    history = conversation(user("go"), model(call("read")), user("never mind"))
    _, body = naive_request(history, "openai:gpt-5.1")
    assert [message["role"] for message in json.loads(body)["messages"]] == ["user", "assistant", "user"]
    assert check("openai", body, model="gpt-5.1")


def test_given_entries_replace_those_of_the_history() -> None:
    """So that the same messages can be tried with and without a result."""
    _, body = naive_request(HISTORY, "openai:gpt-5.1", HISTORY.entries[:1])
    assert len(json.loads(body)["messages"]) == 1
