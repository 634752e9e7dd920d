"""Cohere: each rule refuses what breaks it and takes what was recorded."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import check

USER = {"role": "user", "content": "hi"}
TOOLS = [{"type": "function", "function": {"name": "x", "parameters": {"type": "object"}}}]


def called(id: str = "a", name: str = "x", arguments: Any = "{}", **fields: Any) -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "tool_calls": [call], **fields}


def result(id: str = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "r"}


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "command-a-03-2025", "messages": [USER, *messages], "tools": TOOLS, **fields}


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("COH-01", {"model": "m", "messages": []}),
        ("COH-01", body({"role": "developer", "content": "a"})),
        ("COH-01", body({"role": "user", "content": ""})),
        ("COH-01", body({"role": "user", "content": [{"type": "file"}]})),
        ("COH-01", body({"role": "assistant", "content": "so"})),
        ("COH-02", body(called(), USER)),
        ("COH-02", body(result())),
        ("COH-02", body(called(), result(), result())),
        ("COH-02", body(called(arguments={"a": 1}), result())),
        ("COH-03", body(called(name="a-b"), result())),
        ("COH-03", body(tool_choice="auto")),
        ("COH-03", {"model": "m", "messages": [USER], "tool_choice": "REQUIRED"}),
        ("COH-04", body(temperature=1.4)),
        ("COH-04", body(top_p=0.5)),
        ("COH-04", body(stop_sequences=list("abcdef"))),
        ("COH-04", body(response_format={"type": "json_object"})),
    ],
)
def test_what_breaks_a_rule_is_refused(rule: str, broken: dict[str, Any]) -> None:
    """By that rule alone."""
    assert {found.rule for found in check("cohere", broken)} == {rule}


@pytest.mark.parametrize(
    "fields",
    [{"content": None}, {"content": []}, {"content": [{"type": "text", "text": ""}]}, {"tool_plan": None}],
)
def test_what_was_recorded_is_taken(fields: dict[str, Any]) -> None:
    """Nothing, null or an empty text beside calls; empty lists of documents and citations."""
    assert check("cohere", body(called(**fields), result(), documents=[], tool_choice="NONE")) == []
