"""The register of hostile histories: one or more for each scenario, built fresh each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnout import History, ingest

Build = Callable[[], History]
SCENARIOS: dict[str, Build] = {}


def scenario(build: Build) -> Build:
    """Register a function that builds the state of a scenario; its name begins with the scenario's id."""
    SCENARIOS[build.__name__] = build
    return build


# Chat messages, as short as they can be written


def chat(*messages: Any, **body: Any) -> History:
    return ingest({"messages": list(messages), **body}, "openai-chat")


def user(text: Any = "go on") -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: Any = None, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **fields}
    return {**message, "tool_calls": list(calls)} if calls else message


def call(id: Any = "call_1", name: str = "read_file", arguments: Any = '{"path":"a.txt"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id: Any = "call_1", text: Any = "what the file says", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text, **fields}


# Anthropic, Gemini and Responses


def claude(*messages: Any, model: str = "claude-sonnet-4-5", **body: Any) -> History:
    return ingest({"model": model, "messages": list(messages), **body}, "anthropic")


def gemini(*contents: Any, model: str = "gemini-3-pro-preview") -> History:
    return ingest({"model": model, "contents": list(contents)}, "gemini", f"gemini:{model}")


def responses(*items: Any, model: str = "gpt-5.1", **body: Any) -> History:
    return ingest(
        {"model": model, "input": list(items), **body}, "openai-responses", f"openai-responses:{model}"
    )


def asked(*blocks: Any) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
    }


def answered(*blocks: Any) -> dict[str, Any]:
    return {**asked(*blocks), "role": "assistant"}


def tool_use(id: str = "toolu_1", name: str = "read_file", input: Any = None) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": id,
        "name": name,
        "input": {"path": "a.txt"} if input is None else input,
    }


def tool_result(id: str = "toolu_1", content: Any = "what the file says", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


def thought(text: str = "hm", signature: str | None = "c2lnbmVk") -> dict[str, Any]:
    block = {"type": "thinking", "thinking": text}
    return {**block, "signature": signature} if signature is not None else block


def turn(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def function_call(name: str = "read_file", signature: str = "", **args: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args}}
    return {**part, "thoughtSignature": signature} if signature else part


def function_response(name: str = "read_file", **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response or {"output": "done"}}}


def item_call(call_id: Any = "call_1", name: str = "read_file", **fields: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": '{"path":"a.txt"}',
        **fields,
    }


def item_output(id: Any = "call_1", output: Any = "what the file says") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output}


def item_said(text: str, role: str = "assistant", **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **fields}


def item_reasoning(id: str = "rs_1", encrypted: str | None = "ZW5jcnlwdGVk", **fields: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": id, "summary": [], "encrypted_content": encrypted, **fields}


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
JPEG = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////2Q=="


def image(data: str = PNG, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
