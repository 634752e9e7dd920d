"""Recorded bodies in the one spelling that `hearing` reads: real clients write each thing in several ways."""

from __future__ import annotations

import json
from typing import Any


def spelled(protocol: str, body: dict[str, Any]) -> dict[str, Any]:
    readers = {"chat": _chat, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini}
    readers |= {"converse": _converse, "invoke": _anthropic, "cohere": _cohere, "ollama": _ollama}
    return readers[protocol](body)


def _text(content: Any) -> str:
    """Content that can only be text, as one text."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part.get("text") or part.get("refusal") or "" for part in content)


def _chat(body: dict[str, Any]) -> dict[str, Any]:
    messages = [_chat_message(message) for message in body["messages"]]
    return {"messages": messages, "tools": body.get("tools") or ()}


def _chat_message(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        return {"tool_call_id": "", **message}
    if message["role"] in ("system", "developer"):
        return {**message, "content": _text(message.get("content"))}
    content = message.get("content")
    if isinstance(content, list) and message["role"] == "assistant":
        content = [
            part if part.get("type") == "thinking" else {"type": "text", "text": _text([part])}
            for part in content
        ]
    calls = [_chat_call(call) for call in message.get("tool_calls") or ()]
    return {**message, "content": content or "", "tool_calls": calls}


def _chat_call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call["function"].get("arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    text = "{}" if text == "null" or text[0] != "{" else text  # what is no object becomes an empty one
    return {**call, "id": call.get("id", ""), "function": {**call["function"], "arguments": text}}


def _ollama(body: dict[str, Any]) -> dict[str, Any]:
    """Its calls hold objects. A result may leave out which tool it is of: its place says it."""
    made, names = _chat(body), []
    for message in made["messages"]:
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
            names.append(call["function"]["name"])
        if message["role"] == "tool":
            name = names.pop(0)
            message.setdefault("tool_name", name)
    return made


def _cohere(body: dict[str, Any]) -> dict[str, Any]:
    """Clients write what they do not say as null."""
    made = _chat(body)
    given = [{name: value for name, value in item.items() if value is not None} for item in made["messages"]]
    return {**made, "messages": given}


def _responses(body: dict[str, Any]) -> dict[str, Any]:
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    kept = [_item(item) for item in items]
    return {
        **body,
        "input": [item for item in kept if item],
        "tools": body.get("tools") or (),
        "instructions": body.get("instructions") or "",
    }


def _item(item: dict[str, Any]) -> dict[str, Any]:
    kind = item.get("type", "message")
    if kind == "message":
        role = "developer" if item["role"] == "system" else item["role"]
        if role != "user":
            return {"type": "message", "role": role, "content": _text(item["content"])}
        return {"type": "message", "role": role, "content": item["content"]}
    if kind == "function_call":
        return {**item, "arguments": item["arguments"] or "{}"}
    if kind == "reasoning" and not item.get("encrypted_content"):
        return {}
    return item


def _anthropic(body: dict[str, Any]) -> dict[str, Any]:
    messages = [{**message, "content": _blocks(message)} for message in body["messages"]]
    return {**body, "messages": messages, "tools": body.get("tools") or ()}


def _blocks(message: dict[str, Any]) -> Any:
    if isinstance(message["content"], str):
        return message["content"]
    return [
        {"content": "", **block} if block["type"] == "tool_result" else block for block in message["content"]
    ]


def _converse(body: dict[str, Any]) -> dict[str, Any]:
    """What a client may leave out."""
    config = body.get("toolConfig") or {}
    return {**body, "system": body.get("system") or (), "toolConfig": {"tools": config.get("tools") or ()}}


CAMEL = {
    "system_instruction": "systemInstruction",
    "function_declarations": "functionDeclarations",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "thought_signature": "thoughtSignature",
    "inline_data": "inlineData",
    "file_data": "fileData",
}


def _gemini(body: dict[str, Any]) -> dict[str, Any]:
    body = {key: value for key, value in _camel(body).items() if value is not None}
    if system := body.get("systemInstruction"):
        body["systemInstruction"] = {"parts": _list(system.get("parts"))}
    return {
        **body,
        "contents": [{"role": "user", **content} for content in _list(body["contents"])],
        "tools": [_present(tool) for tool in _list(body.get("tools"))],
    }


def _present(tool: dict[str, Any]) -> dict[str, Any]:
    """Clients write the tools that they do not use as null."""
    return {key: value for key, value in tool.items() if value is not None}


def _list(value: Any) -> list[Any]:
    """Google's servers take one thing where they want a list of things."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {CAMEL.get(key, key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value
