"""A broken rule is answered as its provider answers it."""

from __future__ import annotations

import json

import pytest
from tests.simulate.refusal_requests import orphan, post
from tests.simulate.talk import ask
from tests.simulate.targets import TARGETS

from turnout.history.ingest import ingest
from turnout.simulate import ScriptedTransport

FORMATS = {"chat": "openai-chat", "responses": "openai-responses"}

UNANSWERED = {
    "openai:gpt-4o": (400, "The following tool_call_ids did not have response messages: abcdefghi"),
    "kimi:kimi-k2.6": (400, "The following tool_call_ids did not have response messages: abcdefghi"),
    "deepseek:deepseek-v4-pro": (400, "insufficient tool messages following tool_calls message"),
    "mistral:magistral-medium-latest": (400, "Not the same number of function calls and responses"),
    "openrouter:anthropic/claude-sonnet-4.5": (400, "`tool_use` ids were found without `tool_result` blocks"),
    "copilot:claude-sonnet-4": (400, "tool_use"),
    "openai-responses:gpt-5.1": (400, "No tool output found for function call call_1."),
    "anthropic:claude-sonnet-4-5": (
        400,
        "ids were found without `tool_result` blocks immediately after: toolu_1",
    ),
    "gemini:gemini-3-pro-preview": (400, "number of function response parts is equal to"),
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_an_unanswered_call_is_refused_in_the_providers_words(name: str) -> None:
    """A call without its result gets each provider's own status and sentence."""
    status, words = UNANSWERED[name]

    error = post(ScriptedTransport(["never said"]), name, orphan(name))

    assert error.status == status
    assert words in error.message + error.body
    assert error.kind == "invalid_request"


@pytest.mark.parametrize("name", [*UNANSWERED, "xai:grok-4", "qwen:qwen3-max", "vllm:qwen3", "ollama:qwen3"])
def test_the_same_history_rendered_is_taken(name: str) -> None:
    """What a provider refuses as it stands goes through once it has been ingested and rendered."""
    history = ingest(orphan(name), FORMATS.get(TARGETS[name], TARGETS[name]))
    transport = ScriptedTransport(["It is late."])

    ask(history, name, transport, tools=None)

    assert transport.refusals == []


def test_openrouter_quotes_the_maker_of_the_model() -> None:
    """Its own sentence says nothing; the maker's stands in the metadata."""
    name = "openrouter:anthropic/claude-sonnet-4.5"

    error = json.loads(post(ScriptedTransport([]), name, orphan(name)).body)["error"]

    assert (error["message"], error["metadata"]["provider_name"]) == ("Provider returned error", "Anthropic")
    assert error["metadata"]["raw"].startswith("messages.1: `tool_use` ids were found")


def test_copilot_refuses_images_without_their_header() -> None:
    """The headers are judged with the body; rendered, both are right."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": [image]}]}
    transport = ScriptedTransport(["A cat."])

    assert "Copilot-Vision-Request" in post(transport, "copilot:gpt-4.1", body).message
    assert ask(ingest(body, "openai-chat"), "copilot:gpt-4.1", transport).text == "A cat."
