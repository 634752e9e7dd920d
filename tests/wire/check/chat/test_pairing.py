"""Calls and their results, found in one pass."""

from __future__ import annotations

from typing import Any

from turnout.wire.check.chat.pairing import faults
from turnout.wire.check.chat.view import view


def called(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "read"}} for id in ids]
    return {"role": "assistant", "tool_calls": calls}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "done"}


def kinds_of(*messages: dict[str, Any]) -> list[tuple[str, str]]:
    return [(fault.kind, fault.ids_text) for fault in faults(view({"messages": messages}))]


def test_a_call_with_one_result_is_no_fault() -> None:
    """Results may come in any order."""
    assert kinds_of(called("a", "b"), result("b"), result("a")) == []


def test_a_late_result_is_reported_once() -> None:
    """It belongs to the unanswered call, so it is not an orphan too."""
    user = {"role": "user", "content": "And?"}
    assert kinds_of(called("a"), user, result("a")) == [("unanswered", "a")]


def test_a_second_result_and_a_result_without_a_call_are_two_faults() -> None:
    """Each has its own kind."""
    assert kinds_of(called("a"), result("a"), result("a"), result("x")) == [
        ("repeated", "a"),
        ("orphan", "x"),
    ]
