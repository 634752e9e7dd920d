"""DeepSeek requires its reasoning back; R1 refuses it."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "done"}


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": "deepseek-v4", "messages": [{"role": "user", "content": "go"}, *messages], **fields}
    return [problem.rule for problem in check("deepseek", body)]


def called(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [CALL], **fields}


def test_a_turn_with_calls_needs_its_reasoning() -> None:
    """DSK-01: an empty reasoning is enough; with thinking off it is not needed."""
    assert rules_of(called(), RESULT) == ["DSK-01"]
    assert rules_of(called(reasoning_content=""), RESULT) == []
    assert rules_of(called(), RESULT, thinking={"type": "disabled"}) == []


def test_r1_refuses_its_reasoning() -> None:
    """DSK-02: reasoning of earlier turns is left out."""
    said = {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}
    assert rules_of(said, {"role": "user", "content": "And?"}, model="deepseek-r1") == ["DSK-02"]


def test_a_forced_tool_excludes_thinking() -> None:
    """DSK-04: tool_choice is auto or none while the model thinks."""
    tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
    assert rules_of(tools=tools, tool_choice="required") == ["DSK-04"]
    assert rules_of(tools=tools, tool_choice="auto") == []
