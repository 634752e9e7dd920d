"""The fields of a Chat request, in the words of each server."""

from __future__ import annotations

from typing import Any

from tests.build import conversation, user

import turnout

READ = {"name": "read", "parameters": {"type": "object", "properties": {}}}


def sent(target: str, **options: Any) -> dict[str, Any]:
    return turnout.render(conversation(user("hi")), target, **options).json


def changes_of(target: str, **options: Any) -> str:
    return "\n".join(turnout.render(conversation(user("hi")), target, **options).changes)


def test_each_server_has_its_own_switch_for_thinking() -> None:
    """The option is the same, the field is the server's."""
    assert sent("openai:gpt-5.1", effort="low")["reasoning_effort"] == "low"
    assert sent("kimi:kimi-k2.6", thinking=False)["thinking"] == {"type": "disabled"}
    assert sent("openrouter:openai/gpt-5", effort="high")["reasoning"] == {"effort": "high"}


def test_what_a_model_does_not_take_is_left_out_and_named() -> None:
    """A model that thinks takes no temperature at OpenAI."""
    assert "temperature" not in sent("openai:gpt-5.1", temperature=0.5)
    assert "temperature left out" in changes_of("openai:gpt-5.1", temperature=0.5)


def test_a_forced_tool_is_named_in_the_words_of_the_server() -> None:
    """Mistral says any for required."""
    assert sent("mistral:mistral-large-latest", tools=[READ], tool_choice="required")["tool_choice"] == "any"
    assert sent("openai:gpt-4o", tools=[READ], tool_choice="required")["tool_choice"] == "required"
