"""What single hosts of Chat refuse beyond the common contract."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "done"}


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": "qwen3-max", "messages": [{"role": "user", "content": "go"}, *messages], **fields}
    return [problem.rule for problem in check("qwen", body)]


def called(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [CALL], **fields}


def rules_at(api: str, *messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"messages": [{"role": "user", "content": "go"}, *messages], **fields}
    return [problem.rule for problem in check(api, body)]


def test_each_host_has_its_own_number_for_a_missing_result() -> None:
    """The fault is the same; the rule and the text are the host's."""
    assert rules_at("qwen", called(), model="qwen3-max") == ["QWN-01"]
    assert rules_at("copilot", called(), model="claude-sonnet-4") == ["COP-01"]
    assert rules_at("openrouter", called(), model="anthropic/claude-sonnet-4.5") == ["ORT-01"]


def test_qwens_open_weights_think_only_in_a_stream() -> None:
    """QWN-03: without a stream thinking must be switched off."""
    assert rules_at("qwen", model="qwen3-32b") == ["QWN-03"]
    assert rules_at("qwen", model="qwen3-32b", stream=True) == []
    assert rules_at("qwen", model="qwen3-32b", enable_thinking=False) == []


def test_xai_refuses_an_empty_message() -> None:
    """XAI-01: a message needs content or calls."""
    empty = {"role": "assistant", "content": ""}
    assert rules_at("xai", empty, {"role": "user", "content": "And?"}, model="grok-4") == ["XAI-01"]


def test_openrouter_wants_the_details_of_reasoning_whole() -> None:
    """ORT-02: an entry without a known type is refused."""
    damaged = called(reasoning_details=[{"text": "Hm."}])
    assert "ORT-02" in rules_at("openrouter", damaged, RESULT, model="openai/gpt-5")
