"""Old Mistral tokenizers take words or calls in one message, not both: MIS-07."""

from __future__ import annotations

import pytest

import turnout

MODELS = [
    "mistral:open-mistral-7b",
    "mistral:open-mixtral-8x22b",
    "vllm:mistralai/Mistral-7B-Instruct-v0.3",
    "together:mistralai/Mixtral-8x7B-Instruct-v0.1",
]


@pytest.mark.parametrize("target", MODELS)
def test_words_beside_calls_go_in_a_message_of_their_own(target: str) -> None:
    """Both stay, the words first, and nothing joins them again."""
    history = turnout.ingest([{"role": "user", "content": "Weather?"}])
    turn = history.reply("openai:gpt-5.1", ["Let me look.", turnout.ToolCall("a", "weather", {})])
    history.settle(turn.tool_calls[0].id, turnout.Outcome("complete", (turnout.Text("18 degrees"),)))
    request = turnout.render(history, to=target)
    said, called = request.json["messages"][1:3]
    assert said == {"role": "assistant", "content": "Let me look."}
    assert (called["content"], len(called["tool_calls"])) == ("", 1)
    assert turnout.check(target, request.body) == []


def test_newer_models_keep_words_and_calls_together() -> None:
    """One message of the model stays one message."""
    history = turnout.ingest([{"role": "user", "content": "Weather?"}])
    history.reply("openai:gpt-5.1", ["Let me look.", turnout.ToolCall("a", "weather", {})])
    message = turnout.render(history, to="mistral:mistral-large-latest").json["messages"][1]
    assert message["content"] and message["tool_calls"]
