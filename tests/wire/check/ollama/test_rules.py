"""Ollama's own chat: each rule refuses what breaks it, in the words of its server."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import check

USER = {"role": "user", "content": "hi"}


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "qwen3", "messages": [USER, *messages], "options": {}, **fields}


def called(arguments: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "x", "arguments": arguments}}],
    }


@pytest.mark.parametrize(
    ("rule", "broken", "words"),
    [
        ("OLL-04", body(called('{"a": 1}')), "cannot unmarshal string into Go struct field"),
        (
            "OLL-04",
            body({"role": "user", "content": [{"type": "text", "text": "a"}]}),
            "cannot unmarshal array",
        ),
        ("OLL-04", body({"role": "user", "content": "a", "images": ["data:image/png;base64,AA"]}), "base64"),
        ("OLL-04", {"messages": [USER], "options": {}}, "model is required"),
        ("OLL-05", body(think="very"), "invalid think value"),
        ("OLL-05", body(format="xml"), "invalid format"),
        ("OLL-05", body(options={"num_ctx": "many"}), 'option "num_ctx" must be of type integer'),
        (
            "OLL-04",
            body(
                tools=[
                    {"function": {"name": "x", "parameters": {"type": "object", "properties": {"a": True}}}}
                ]
            ),
            "api.ToolProperty",
        ),
    ],
)
def test_what_go_cannot_read_is_refused(rule: str, broken: dict[str, Any], words: str) -> None:
    """With the rule and the words that the server answers."""
    assert [(found.rule, words in found.answer) for found in check("ollama-native", broken)] == [(rule, True)]


def test_what_fits_is_taken() -> None:
    """No pairing, no order, nulls as nothing; and the same by the name of the provider."""
    good = body(
        called({"a": 1}),
        {"role": "tool", "content": "r"},
        {"role": "assistant", "content": None},
        think="low",
    )
    assert check("ollama-native", good) == [] == check("ollama", good)
