"""Messages as foreign APIs write them, and a history at a glance."""

from __future__ import annotations

import json
from typing import Any

from turnout.history.log import History
from turnout.model import ModelTurn, SystemTurn, Text, block_text

# Chat


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def system(text: Any) -> dict[str, Any]:
    return {"role": "system", "content": text}


def assistant(text: Any = None, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {}), **fields}


def call(raw_id: Any, name: str = "read", arguments: Any = None, **fields: Any) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"id": raw_id, "type": "function", "function": {"name": name, "arguments": written}, **fields}


def tool(raw_id: Any, content: Any = "done", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": raw_id, "content": content, **fields}


# Anthropic


def use(raw_id: str, name: str = "read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": raw_id, "name": name, "input": arguments}


def result(raw_id: str, content: Any = "done", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": raw_id, "content": content, **fields}


# Gemini


def parts(role: str, *given: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(given)}


def function_call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


def function_response(name: str, **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response}}


# The canonical content list


def content(speaker: str, *blocks: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"speaker": speaker, "blocks": list(blocks), **({"metadata": metadata} if metadata else {})}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def thought(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "thinking", "thought": value, **fields}


def asks(raw_id: str, name: str = "read", **parameters: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": raw_id, "name": name, "parameters": parameters}


def answers(raw_id: str, result: Any = "done", name: str = "read", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_response", "callId": raw_id, "toolName": name, "result": result, **fields}


# A history at a glance


def codes(history: History) -> list[str]:
    return [diagnostic.code for diagnostic in history.diagnostics]


def story(history: History) -> list[str]:
    """`user: hi`, `model: let me see, read`: the turns, calls by name."""
    return [f"{_who(turn)}: {', '.join(_said(block) for block in turn.blocks)}" for turn in history.turns]


def _who(turn: Any) -> str:
    return "model" if isinstance(turn, ModelTurn) else "system" if isinstance(turn, SystemTurn) else "user"


def _said(block: Any) -> str:
    return block.name if hasattr(block, "arguments") else block_text(block)


def outcomes(history: History) -> list[tuple[str, str, str]]:
    """Tool, status and text of each call, in call order."""
    return [
        (item.call.name, item.status, item.outcome.text if item.outcome else "") for item in history.ledger
    ]


def statuses(history: History) -> list[str]:
    return [item.status for item in history.ledger]


def spoken(history: History) -> list[str]:
    return [block.text for turn in history.turns for block in turn.blocks if isinstance(block, Text)]
