"""Bodies in which every block that only one provider understands stands once, and ways to damage them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Body = dict[str, Any]
Path = tuple[Any, ...]

PNG = "iVBORw0KGgo="
CITED = {
    "type": "char_location",
    "cited_text": "x",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 1,
}


def server_use(number: int, name: str, **input: Any) -> Body:
    return {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": name, "input": input}


def server_result(number: int, kind: str, content: Any) -> Body:
    return {"type": kind, "tool_use_id": f"srvtoolu_{number}", "content": content}


def text_document(data: str = "facts") -> Body:
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": data}}


RAN = {"stdout": "1", "stderr": "", "return_code": 0, "content": []}
ANTHROPIC: Body = {
    "model": "claude-sonnet-4-5",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                text_document(),
                {
                    "type": "document",
                    "title": "parts",
                    "source": {"type": "content", "content": [{"type": "text", "text": "a part"}]},
                },
                {
                    "type": "search_result",
                    "source": "https://example.com",
                    "title": "found",
                    "content": [{"type": "text", "text": "a hit"}],
                },
                {"type": "container_upload", "file_id": "file_1"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"},
                {"type": "redacted_thinking", "data": "aGlkZGVu"},
                server_use(1, "web_search", query="x"),
                server_result(
                    1,
                    "web_search_tool_result",
                    [{"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "ZW5j"}],
                ),
                server_use(2, "web_fetch", url="u"),
                server_result(
                    2,
                    "web_fetch_tool_result",
                    {"type": "web_fetch_result", "url": "u", "content": text_document("page")},
                ),
                server_use(3, "code_execution", code="1"),
                server_result(3, "code_execution_tool_result", {"type": "code_execution_result", **RAN}),
                server_use(4, "bash_code_execution", command="ls"),
                server_result(
                    4, "bash_code_execution_tool_result", {"type": "bash_code_execution_result", **RAN}
                ),
                server_use(5, "text_editor_code_execution", command="view"),
                server_result(
                    5,
                    "text_editor_code_execution_tool_result",
                    {
                        "type": "text_editor_code_execution_view_result",
                        "content": "c",
                        "file_type": "text",
                    },
                ),
                server_use(6, "tool_search_tool_regex", query="x"),
                server_result(
                    6,
                    "tool_search_tool_result",
                    {
                        "type": "tool_search_tool_search_result",
                        "tool_references": [{"type": "tool_reference", "tool_name": "f"}],
                    },
                ),
                {"type": "text", "text": "so", "citations": [CITED]},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "on"}]},
    ],
}

RESPONSES: Body = {
    "model": "gpt-5.1",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
                {"type": "input_file", "file_id": "file-1"},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "ZW5jcnlwdGVk",
        },
        {
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "so", "annotations": []}],
        },
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        {"type": "message", "role": "user", "content": "on"},
    ],
}

GEMINI: Body = {
    "model": "gemini-3-pro",
    "contents": [
        {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True, "thoughtSignature": "c2lnbmVk"},
                {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
                {"text": "so", "thoughtSignature": "c2lnbmVk"},
                {"functionCall": {"name": "f", "args": {}, "id": "id1"}, "thoughtSignature": "c2lnbmVk"},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "id": "id1", "response": {"a": 1}}}]},
        {"role": "model", "parts": [{"text": "done"}]},
        {"role": "user", "parts": [{"text": "on"}]},
    ],
}

OPENROUTER: Body = {
    "model": "google/gemini-3-pro-preview",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "content": "so",
            "reasoning": "hm",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "hm", "format": "google-gemini-v1", "index": 0},
                {
                    "type": "reasoning.encrypted",
                    "data": "c2ln",
                    "format": "google-gemini-v1",
                    "id": "c1",
                    "index": 1,
                },
            ],
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "user", "content": "on"},
    ],
}

MISTRAL: Body = {
    "model": "magistral-medium-latest",
    "messages": [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True},
                {"type": "text", "text": "so"},
            ],
        },
        {"role": "user", "content": "on"},
    ],
}

COPILOT: Body = {
    "model": "gpt-5.2-codex",
    "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "so", "reasoning_text": "hm", "reasoning_opaque": "b3BhcXVl"},
        {"role": "user", "content": "on"},
    ],
}

CLIENT_RUN: Body = {
    "model": "gpt-5.2",
    "input": [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "shell"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5jcnlwdGVk"},
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "x"},
        },
        {"type": "message", "role": "assistant", "content": "found"},
        {"type": "message", "role": "user", "content": "and now?"},
        {
            "type": "shell_call",
            "call_id": "call_1",
            "status": "completed",
            "action": {"commands": ["ls"], "max_output_length": 9},
        },
        {
            "type": "shell_call_output",
            "call_id": "call_1",
            "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}],
        },
        {
            "type": "apply_patch_call",
            "call_id": "call_2",
            "status": "completed",
            "operation": {"type": "update_file", "path": "a", "diff": "+1"},
        },
        {"type": "apply_patch_call_output", "call_id": "call_2", "status": "failed", "output": "no"},
        {"type": "custom_tool_call", "call_id": "call_3", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "call_3", "output": "1"},
        {
            "type": "tool_search_call",
            "call_id": "call_4",
            "execution": "client",
            "status": "completed",
            "arguments": {"goal": "x"},
        },
        {"type": "tool_search_output", "call_id": "call_4", "execution": "client", "tools": []},
        {
            "type": "function_call",
            "call_id": "call_5",
            "name": "find",
            "namespace": "crm",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "call_5", "output": "found"},
    ],
}
NATIVES: dict[str, tuple[str, Body]] = {
    "anthropic:claude-sonnet-4-5": ("anthropic", ANTHROPIC),
    "openai-responses:gpt-5.1": ("openai-responses", RESPONSES),
    "openai-responses:gpt-5.2": ("openai-responses", CLIENT_RUN),
    "gemini:gemini-3-pro": ("gemini", GEMINI),
    "openrouter:google/gemini-3-pro-preview": ("openai-chat", OPENROUTER),
    "mistral:magistral-medium-latest": ("openai-chat", MISTRAL),
    "copilot:gpt-5.2-codex": ("openai-chat", COPILOT),
}
"""Each target, the format of its bodies, and a body that it takes."""

LISTS = ("messages", "input", "contents")
WRONG: tuple[Any, ...] = (
    None, 0, True, "", " ", "not base64!", "x", [], ["text"], [None], {}, {"a": 1}, [{}], [{"type": "text"}],
)  # fmt: skip


def damaged(body: Body, path: Path, value: Any) -> Body:
    """The body with another value at this place, or without it where the value is `...`."""
    spoilt = deepcopy(body)
    holder: Any = spoilt
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]]  # a place that earlier damage moved away is a KeyError, not a new field
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return spoilt


def places(body: Body) -> list[Path]:
    """Every place inside a block or an item at which something can be damaged."""
    name = next(name for name in LISTS if name in body)
    outermost = 4 if body in (ANTHROPIC, GEMINI) else 2  # there blocks stand in messages, else they are them
    return [(name, *path) for path in _places(body[name]) if len(path) >= outermost]


def _places(value: Any) -> Iterator[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (key,)
        yield from ((key, *path) for path in _places(item))
