"""The conversation of the founding specification, section 7: six calls, two results."""

from __future__ import annotations

from typing import Any


def _ai(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"speaker": "ai", "blocks": list(blocks), "metadata": {"provider": "kimi", "model": "kimi-k2.5"}}


def _call(number: int, name: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": f"hist_tool_{number}", "name": name, "parameters": {"n": number}}


def _result(number: int, text: str) -> dict[str, Any]:
    block = {"type": "tool_response", "callId": f"hist_tool_{number}", "result": text}
    return {"speaker": "tool", "blocks": [block]}


CONVERSATION = [
    {"speaker": "human", "blocks": [{"type": "text", "text": "Look around and tell me what you see."}]},
    _ai({"type": "thinking", "thought": "First the list."}, _call(1, "list_directory")),
    _result(1, "a.py b.py"),
    _ai(
        {"type": "thinking", "thought": "Now five files at once."},
        *(_call(number, "read_file") for number in range(2, 7)),
    ),
    _result(3, "print('b')"),
    _ai({"type": "thinking", "thought": "Enough."}, {"type": "text", "text": "Two small Python files."}),
    {"speaker": "human", "blocks": [{"type": "text", "text": "Thanks. Go on with another model."}]},
]
