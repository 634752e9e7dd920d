"""Kimi requires its reasoning with every call."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "done"}


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": "kimi-k2.6", "messages": [{"role": "user", "content": "go"}, *messages], **fields}
    return [problem.rule for problem in check("kimi", body)]


def called(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [CALL], **fields}


def test_a_call_needs_its_reasoning() -> None:
    """KIM-02: a placeholder is enough; models that do not think need none."""
    assert rules_of(called(), RESULT) == ["KIM-02"]
    assert rules_of(called(reasoning_content=" "), RESULT) == []
    assert rules_of(called(), RESULT, model="kimi-k2") == []


def test_an_empty_assistant_message_is_refused() -> None:
    """KIM-04: it is left out, unless it is a partial one."""
    empty = {"role": "assistant", "content": ""}
    assert rules_of(empty, {"role": "user", "content": "And?"}) == ["KIM-04"]


def test_sampling_is_fixed() -> None:
    """KIM-07: only the server's own temperature is accepted."""
    assert rules_of(temperature=0.3) == ["KIM-07"]
    assert rules_of(temperature=1) == []
