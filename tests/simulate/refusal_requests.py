"""Requests that a provider refuses, for the tests of refusals."""

from __future__ import annotations

import json
from typing import Any

from tests.simulate.talk import key_headers, refused
from tests.simulate.targets import TARGETS

from turnout.simulate import ScriptedTransport
from turnout.targets.request import url
from turnout.targets.target import find_target as target

VERSION = {"anthropic-version": "2023-06-01"}


def post(transport: ScriptedTransport, name: str, body: Any) -> Any:
    """Send a body as it is to a target, expecting a refusal."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refused(transport, url(target(name)), {**VERSION, **key_headers(name)}, data)


# A call without a result, in each wire's own shape


def orphan(name: str) -> dict[str, Any]:
    """A body with a call that nobody answered."""
    model = target(name).model
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    match TARGETS[name]:
        case "anthropic":
            use = {"type": "tool_use", "id": "toolu_1", "name": "time", "input": {}}
            said = [("user", "What time is it?"), ("assistant", [use]), ("user", "Hello?")]
            messages = [{"role": role, "content": content} for role, content in said]
            tools = [{"name": "time", "input_schema": schema}]
            return {"model": model, "max_tokens": 100, "messages": messages, "tools": tools}
        case "gemini":
            call = {"functionCall": {"name": "time", "args": {}}, "thoughtSignature": SENTINEL}
            parts = [("user", {"text": "What time is it?"}), ("model", call), ("user", {"text": "Hello?"})]
            contents = [{"role": role, "parts": [part]} for role, part in parts]
            return {"contents": contents, "tools": [{"functionDeclarations": [{"name": "time"}]}]}
        case "responses":
            call = {"type": "function_call", "call_id": "call_1", "name": "time", "arguments": "{}"}
            first, last = ({"role": "user", "content": text} for text in ("What time is it?", "Hello?"))
            return {"model": model, "input": [first, call, last], "store": False}
        case _:
            calls = [{"id": "abcdefghi", "type": "function", "function": {"name": "time", "arguments": "{}"}}]
            messages = [
                {"role": "user", "content": "What time is it?"},
                {"role": "assistant", "content": "", "tool_calls": calls, "reasoning_content": " "},
                {"role": "user", "content": "Hello?"},
            ]
            function = {"name": "time", "parameters": schema}
            tools = [{"type": "function", "function": function}]
            return {"model": model, "messages": messages, "tools": tools}


SENTINEL = "skip_thought_signature_validator"
