"""The fields of a Messages request."""

from __future__ import annotations

from typing import Any

from tests.build import conversation, user

import turnout

READ = {"name": "read", "parameters": {"type": "object", "properties": {}}}


def sent(target: str, **options: Any) -> dict[str, Any]:
    return turnout.render(conversation(user("hi")), target, **options).json


def changes_of(target: str, **options: Any) -> str:
    return "\n".join(turnout.render(conversation(user("hi")), target, **options).changes)


def test_max_tokens_is_always_sent() -> None:
    """The API requires it; the default leaves room for thinking."""
    assert sent("anthropic:claude-sonnet-4-5")["max_tokens"] == 8_192
    assert sent("anthropic:claude-sonnet-4-5", max_tokens=100)["max_tokens"] == 100


def test_thinking_is_manual_or_adaptive() -> None:
    """ANT-21: each model knows some kinds of thinking."""
    assert sent("anthropic:claude-sonnet-4-5", thinking=True)["thinking"]["type"] == "enabled"
    assert sent("anthropic:claude-opus-4-8", thinking=True)["thinking"] == {"type": "adaptive"}


def test_manual_thinking_and_a_forced_tool_exclude_each_other() -> None:
    """ANT-24: thinking is switched off, and the report says so."""
    asked: dict[str, Any] = {"tools": [READ], "tool_choice": "required", "thinking": True}

    assert "thinking" not in sent("anthropic:claude-sonnet-4-5", **asked)
    assert "ANT-24" in changes_of("anthropic:claude-sonnet-4-5", **asked)


def test_cache_marks_stand_on_tools_and_system_text() -> None:
    """ANT-14: two marks and the one at the top level, never in the messages."""
    body = sent("anthropic:claude-sonnet-4-5", tools=[READ], system="Be brief.")

    assert "cache_control" in body and "cache_control" in body["system"][0]
    assert "cache_control" in body["tools"][-1]
    assert "cache_control" not in str(body["messages"])
