"""The reference of the render bench: a history walked once, dicts built, one call of msgspec.

It knows nothing of dialects, ids that clash, calls without results, media, reasoning or
merging: it is what the simplest program for this very session would do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from bench.conversation import SYSTEM, TOOLS
from turnout import History, ModelTurn, Text, ToolCall

encode = msgspec.json.Encoder().encode


def chat(history: History) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for turn in history.turns:
        text = "".join([block.text for block in turn.blocks if isinstance(block, Text)])
        if not isinstance(turn, ModelTurn):
            messages.append({"role": "user", "content": text})
            continue
        message: dict[str, Any] = {"role": "assistant", "content": text}
        messages.append(message)
        calls = [block for block in turn.blocks if isinstance(block, ToolCall)]
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.raw_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": encode(call.arguments).decode()},
                }
                for call in calls
            ]
        for call in calls:
            result = {"role": "tool", "tool_call_id": call.raw_id, "content": _result(history, call)}
            messages.append(result)
    tools = [{"type": "function", "function": tool} for tool in TOOLS]
    return encode({"model": "gpt-5.1", "tools": tools, "messages": messages})


def responses(history: History) -> bytes:
    items: list[dict[str, Any]] = []
    for turn in history.turns:
        role = "assistant" if isinstance(turn, ModelTurn) else "user"
        calls = [block for block in turn.blocks if isinstance(block, ToolCall)]
        text = "".join([block.text for block in turn.blocks if isinstance(block, Text)])
        items.append({"type": "message", "role": role, "content": text})
        for call in calls:
            arguments = encode(call.arguments).decode()
            items.append(
                {
                    "type": "function_call",
                    "call_id": call.raw_id,
                    "name": call.name,
                    "arguments": arguments,
                }
            )
        for call in calls:
            output = {
                "type": "function_call_output",
                "call_id": call.raw_id,
                "output": _result(history, call),
            }
            items.append(output)
    tools = [{"type": "function", **tool} for tool in TOOLS]
    return encode({"model": "gpt-5.1", "instructions": SYSTEM, "tools": tools, "input": items})


def anthropic(history: History) -> bytes:
    messages: list[dict[str, Any]] = []
    for turn in history.turns:
        role = "assistant" if isinstance(turn, ModelTurn) else "user"
        content: list[dict[str, Any]] = []
        results: list[dict[str, Any]] = []
        for block in turn.blocks:
            if isinstance(block, Text):
                content.append({"type": "text", "text": block.text})
            elif isinstance(block, ToolCall):
                content.append(
                    {"type": "tool_use", "id": block.raw_id, "name": block.name, "input": block.arguments}
                )
                result = {
                    "type": "tool_result",
                    "tool_use_id": block.raw_id,
                    "content": _result(history, block),
                }
                results.append(result)
        messages.append({"role": role, "content": content})
        if results:
            messages.append({"role": "user", "content": results})
    tools = [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in TOOLS
    ]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 8192, "system": SYSTEM, "tools": tools}
    return encode({**body, "messages": messages})


def gemini(history: History) -> bytes:
    contents: list[dict[str, Any]] = []
    for turn in history.turns:
        role = "model" if isinstance(turn, ModelTurn) else "user"
        parts: list[dict[str, Any]] = []
        results: list[dict[str, Any]] = []
        for block in turn.blocks:
            if isinstance(block, Text):
                parts.append({"text": block.text})
            elif isinstance(block, ToolCall):
                parts.append({"functionCall": {"name": block.name, "args": block.arguments}})
                response = {"name": block.name, "response": {"output": _result(history, block)}}
                results.append({"functionResponse": response})
        contents.append({"role": role, "parts": parts})
        if results:
            contents.append({"role": "user", "parts": results})
    system = {"parts": [{"text": SYSTEM}]}
    return encode(
        {"systemInstruction": system, "tools": [{"functionDeclarations": TOOLS}], "contents": contents}
    )


def _result(history: History, call: ToolCall) -> str:
    outcome = history.ledger[call.id].outcome
    return outcome.text if outcome is not None else ""


BUILDS: dict[str, Callable[[History], bytes]] = {
    "openai": chat,
    "anthropic": anthropic,
    "gemini": gemini,
    "openai-responses": responses,
}
