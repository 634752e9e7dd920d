"""The fields around the messages of Converse, by the model's maker."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import conversation, user

from turnout import render

CLAUDE = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "bedrock:us.amazon.nova-2-lite-v1:0"
TOOLS = ({"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},)


def rendered(to: str, **options: Any) -> Any:
    return render(conversation(user("hi")), to, **options)


@pytest.mark.parametrize(
    ("to", "options", "fields"),
    [
        (
            CLAUDE,
            {"thinking": True, "budget": 2_000},
            {"thinking": {"type": "enabled", "budget_tokens": 2_000}},
        ),
        (
            "bedrock:us.anthropic.claude-sonnet-4-6",
            {"effort": "high"},
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
        (NOVA, {"effort": "low"}, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}),
        ("bedrock:openai.gpt-oss-120b-1:0", {"effort": "high"}, {"reasoning_effort": "high"}),
        (CLAUDE, {"top_k": 20}, {"top_k": 20}),
        (NOVA, {"top_k": 20}, {"inferenceConfig": {"topK": 20}}),
    ],
)
def test_each_maker_has_its_own_words(to: str, options: dict[str, Any], fields: dict[str, Any]) -> None:
    """They stand in additionalModelRequestFields."""
    assert rendered(to, **options).json["additionalModelRequestFields"] == fields


def test_a_budget_leaves_room_for_an_answer() -> None:
    """The limit of tokens is above it."""
    body = rendered(CLAUDE, thinking=True, budget=4_000).json
    assert body["inferenceConfig"]["maxTokens"] > 4_000


@pytest.mark.parametrize(
    ("to", "choice", "wire"),
    [
        (CLAUDE, "look", {"tool": {"name": "look"}}),
        (CLAUDE, "required", {"any": {}}),
        (CLAUDE, "auto", {"auto": {}}),
        ("bedrock:mistral.mistral-large-2407-v1:0", "look", {"any": {}}),
    ],
)
def test_the_choice_of_a_tool_is_what_the_model_takes(to: str, choice: str, wire: dict[str, Any]) -> None:
    """Mistral cannot be told which tool; the report says so."""
    request = rendered(to, tools=TOOLS, tool_choice=choice)
    assert request.json["toolConfig"]["toolChoice"] == wire
    assert ("mistral" in to) == any("sent as required" in line for line in request.changes)


def test_the_service_takes_its_tier_and_short_metadata() -> None:
    """What does not fit is named."""
    request = rendered(CLAUDE, service_tier="flex", metadata={"team": "a", "odd": "ü"})
    assert request.json["serviceTier"] == {"type": "flex"}
    assert request.json["requestMetadata"] == {"team": "a"}
    assert any("metadata odd left out" in line for line in request.changes)


def test_a_long_cache_is_asked_for_where_there_is_one() -> None:
    """Nova's cache has one length."""
    point = rendered(CLAUDE, system="S", cache_ttl="1h").json["system"][1]
    assert point == {"cachePoint": {"type": "default", "ttl": "1h"}}
    assert any("cache_ttl 1h left out" in line for line in rendered(NOVA, cache_ttl="1h").changes)
