"""The fields of a Responses request."""

from __future__ import annotations

from typing import Any

from tests.build import conversation, user

import turnout

READ = {"name": "read", "parameters": {"type": "object", "properties": {}}}


def sent(target: str, **options: Any) -> dict[str, Any]:
    return turnout.render(conversation(user("hi")), target, **options).json


def changes_of(target: str, **options: Any) -> str:
    return "\n".join(turnout.render(conversation(user("hi")), target, **options).changes)


def test_nothing_is_stored_unless_requests_are_chained() -> None:
    """Reasoning comes back encrypted instead."""
    body = sent("openai-responses:gpt-5.1")

    assert body["store"] is False and body["include"] == ["reasoning.encrypted_content"]
    assert sent("openai-responses:gpt-5.1", chain=True)["store"] is True


def test_an_effort_becomes_reasoning() -> None:
    """Thinking off is the effort none."""
    assert sent("openai-responses:gpt-5.1", effort="low")["reasoning"] == {"effort": "low", "summary": "auto"}
    assert sent("openai-responses:gpt-5.1", thinking=False)["reasoning"] == {"effort": "none"}


def test_options_that_the_api_does_not_have_are_named() -> None:
    """They are not sent."""
    assert "seed left out" in changes_of("openai-responses:gpt-5.1", seed=7)


def test_tools_are_flat() -> None:
    """OAR-14: name and parameters stand on the tool itself."""
    (tool,) = sent("openai-responses:gpt-5.1", tools=[READ])["tools"]

    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "read", False)
