"""Servers on your own machine parse arguments, and check little else."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "done"}


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": "qwen3", "messages": [{"role": "user", "content": "go"}, *messages], **fields}
    return [problem.rule for problem in check("vllm", body)]


def called(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [CALL], **fields}


def test_arguments_must_be_json() -> None:
    """VLL-01: vLLM puts them into a template as values."""
    broken = {**CALL, "function": {"name": "read", "arguments": "{half"}}
    assert rules_of(called(tool_calls=[broken]), RESULT) == ["VLL-01"]
    assert rules_of(called(), RESULT) == []


def test_a_missing_result_is_a_warning_only() -> None:
    """None of them checks pairing; the model guesses."""
    body = {"model": "qwen3", "messages": [{"role": "user", "content": "go"}, called()]}
    for api in ("vllm", "ollama", "llamacpp"):
        levels = {problem.level for problem in check(api, body, warnings=True)}
        assert levels == {"warning"}, api


def test_a_choice_needs_tools() -> None:
    """VLL-02: and a named tool must be declared."""
    assert rules_of(tool_choice="required") == ["VLL-02"]


def test_ollamas_own_format_is_not_checked() -> None:
    """A body for /api/chat has arguments as objects."""
    native = {**CALL, "function": {"name": "read", "arguments": {}}}
    body = {"model": "qwen3", "messages": [called(tool_calls=[native])]}
    assert check("ollama", body) == []
