"""What Anthropic refuses about thinking."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

MODEL = "claude-sonnet-4-5"


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": MODEL, "max_tokens": 4096, "messages": list(messages), **fields}
    return [problem.rule for problem in check("anthropic", body)]


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) or "go"}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


CALL = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
MANUAL = {"type": "enabled", "budget_tokens": 2048}


def test_manual_thinking_opens_the_tool_loop() -> None:
    """ANT-16: the message that began the loop starts with thinking."""
    assert rules_of(user(), assistant(CALL), user(RESULT), thinking=MANUAL) == ["ANT-16"]
    assert rules_of(user(), assistant(THOUGHT, CALL), user(RESULT), thinking=MANUAL) == []


def test_a_thought_needs_its_signature() -> None:
    """ANT-17: without it the thought is left out."""
    unsigned = {"type": "thinking", "thinking": "Hm."}
    said = {"type": "text", "text": "Hi."}
    assert rules_of(user(), assistant(unsigned, said), user()) == ["ANT-17"]


def test_a_budget_is_below_max_tokens() -> None:
    """ANT-23: and at least 1024."""
    assert rules_of(user(), thinking={"type": "enabled", "budget_tokens": 4096}) == ["ANT-23"]
    assert rules_of(user(), thinking={"type": "enabled", "budget_tokens": 100}) == ["ANT-23"]


def test_manual_thinking_fixes_the_temperature() -> None:
    """ANT-22: only 1 is accepted."""
    assert rules_of(user(), thinking=MANUAL, temperature=0.2) == ["ANT-22"]
    assert rules_of(user(), thinking=MANUAL, temperature=1) == []
