"""Requests in each of the four protocols, made from Chat messages of OpenAI."""

from __future__ import annotations

import json
from typing import Any

Message = dict[str, Any]

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
}


def path_of(protocol: str, model: str, stream: bool = False) -> str:
    path = PATHS[protocol].format(model=model)
    if protocol == "gemini" and stream:
        return path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    return path


def body_of(
    protocol: str, model: str, messages: list[Message], tools: list[Message], stream: bool = False
) -> dict[str, Any]:
    """The same conversation as a client of the protocol would send it, with all its damage."""
    return {"chat": _chat, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini}[protocol](
        model, messages, tools, stream
    )


def _chat(model: str, messages: list[Message], tools: list[Message], stream: bool) -> dict[str, Any]:
    declared = [{"type": "function", "function": tool} for tool in tools]
    return {"model": model, "messages": messages, "stream": stream} | (
        {"tools": declared} if declared else {}
    )


def _responses(model: str, messages: list[Message], tools: list[Message], stream: bool) -> dict[str, Any]:
    items: list[Message] = []
    for message in messages:
        role, content = message["role"], message.get("content")
        if role == "tool":
            call_id = message.get("tool_call_id", "")
            items.append({"type": "function_call_output", "call_id": call_id, "output": content})
            continue
        if content:
            items.append({"role": role, "content": content})
        for call in message.get("tool_calls") or ():
            function = call["function"]
            items.append({"type": "function_call", "call_id": call["id"], **function})
    declared = [{"type": "function", **tool} for tool in tools]
    return {"model": model, "input": items, "tools": declared, "stream": stream, "store": False}


def _anthropic(model: str, messages: list[Message], tools: list[Message], stream: bool) -> dict[str, Any]:
    system = "\n".join(message["content"] for message in messages if message["role"] == "system")
    turns: list[Message] = []
    for message in messages:
        role, content = message["role"], message.get("content")
        blocks: list[Message] = [{"type": "text", "text": content}] if content else []
        if role == "system":
            continue
        if role == "tool":
            result = {
                "type": "tool_result",
                "tool_use_id": message.get("tool_call_id", ""),
                "content": content,
            }
            turns.append({"role": "user", "content": [result]})
            continue
        for call in message.get("tool_calls") or ():
            given = call["function"]
            blocks.append(
                {
                    "type": "tool_use",
                    "id": call["id"],
                    "name": given["name"],
                    "input": _object(given["arguments"]),
                }
            )
        turns.append({"role": role, "content": blocks})
    declared = [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in tools
    ]
    body = {"model": model, "max_tokens": 1000, "messages": turns, "tools": declared, "stream": stream}
    return body | ({"system": system} if system else {})


def _gemini(model: str, messages: list[Message], tools: list[Message], stream: bool) -> dict[str, Any]:
    names: dict[str, str] = {}
    contents: list[Message] = []
    system = "\n".join(message["content"] for message in messages if message["role"] == "system")
    for message in messages:
        role, content = message["role"], message.get("content")
        if role == "system":
            continue
        if role == "tool":
            call_id = message.get("tool_call_id", "")
            answer = {"id": call_id, "name": names.get(call_id, "tool"), "response": {"output": content}}
            contents.append({"role": "user", "parts": [{"functionResponse": answer}]})
            continue
        parts: list[Message] = [{"text": content}] if content else []
        for call in message.get("tool_calls") or ():
            given = call["function"]
            names[call["id"]] = given["name"]
            part = {"id": call["id"], "name": given["name"], "args": _object(given["arguments"])}
            parts.append({"functionCall": part})
        contents.append({"role": "user" if role == "user" else "model", "parts": parts})
    declared = [{"functionDeclarations": [{**tool} for tool in tools]}] if tools else []
    body: dict[str, Any] = {"contents": contents, "tools": declared}
    return body | ({"systemInstruction": {"parts": [{"text": system}]}} if system else {})


def _object(arguments: Any) -> Any:
    if isinstance(arguments, dict):
        return arguments
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return arguments
