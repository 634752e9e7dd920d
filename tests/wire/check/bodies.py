"""Good bodies, the smallest changes that spoil them, and what a checker found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from turnout.wire.check.problem import Problem

Body = dict[str, Any]
Change = Callable[[Body], object]

SHARED = Path(os.environ.get("TURNOUT_CORPUS") or Path(__file__).parents[4] / "shared" / "corpus").parent
EXAMPLES = SHARED / "rulebook" / "examples"
RULEBOOK = SHARED / "rulebook" / "rulebook.json"

SCHEMA: Body = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def spoiled(body: Body, *changes: Change) -> Body:
    """A copy of a body after these changes; the body itself stays good."""
    copy = deepcopy(body)
    for change in changes:
        change(copy)
    return copy


def rules(problems: Iterable[Problem]) -> set[str]:
    return {problem.rule for problem in problems}


def example(name: str) -> Body:
    return dict(json.loads((EXAMPLES / f"{name}.json").read_bytes()))


def rules_to_apply(prefix: str) -> set[str]:
    """The rules of one family that a server enforces, from the rulebook."""
    entries = json.loads(RULEBOOK.read_bytes())
    return {
        entry["id"]
        for entry in entries
        if entry["id"].startswith(prefix) and entry["severity"] in ("error", "model")
    }


def responses(**changes: Any) -> Body:
    """Stateless: two parallel calls, answered, and the next question."""
    body: Body = {
        "model": "gpt-5.6",
        "store": False,
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Weather and time?"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "gAAAAAB"},
            {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
            {"type": "function_call", "call_id": "call_2", "name": "time", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "sun"},
            {"type": "function_call_output", "call_id": "call_2", "output": "noon"},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Sun at noon."}]},
            {"role": "user", "content": "And tomorrow?"},
        ],
        "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}],
    }
    return {**body, **changes}


def chained(**changes: Any) -> Body:
    """Continues a stored response: only the output and the next question."""
    body: Body = {
        "model": "gpt-5.6",
        "previous_response_id": "resp_1",
        "input": [
            {"type": "function_call_output", "call_id": "call_1", "output": "sun"},
            {"role": "user", "content": "And tomorrow?"},
        ],
    }
    return {**body, **changes}


def anthropic(**changes: Any) -> Body:
    """Manual thinking, two parallel calls and their results: the loop is open."""
    body: Body = {
        "model": "claude-sonnet-4-5-20250929",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Be brief."}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            {"role": "user", "content": "Weather and time?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Both.", "signature": "Eq"},
                    {"type": "text", "text": "I ask."},
                    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "time", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sun"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "late", "is_error": True},
                ],
            },
        ],
        "tools": [
            {"name": "weather", "input_schema": SCHEMA},
            {"name": "time", "input_schema": {"type": "object"}},
        ],
    }
    return {**body, **changes}


def claude(model: str = "claude-sonnet-4-5", *messages: Body, **changes: Any) -> Body:
    """A conversation without tools or thinking; a question alone where no messages are given."""
    spoken = list(messages) or [{"role": "user", "content": "Hello"}]
    return {"model": model, "max_tokens": 4096, "messages": spoken, **changes}


def gemini(**changes: Any) -> Body:
    """Two parallel calls, signed on the first, and their responses."""
    body: Body = {
        "contents": [
            {"role": "user", "parts": [{"text": "Weather and time?"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"id": "a1", "name": "weather", "args": {"city": "Oslo"}},
                        "thoughtSignature": "c2ln",
                    },
                    {"functionCall": {"id": "a2", "name": "time", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "a1", "name": "weather", "response": {"output": "sun"}}},
                    {"functionResponse": {"id": "a2", "name": "time", "response": {"error": "late"}}},
                ],
            },
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "weather", "parametersJsonSchema": SCHEMA},
                    {
                        "name": "time",
                        "parameters": {
                            "type": "OBJECT",
                            "properties": {"zone": {"type": "STRING", "enum": ["utc", "local"]}},
                            "required": ["zone"],
                        },
                    },
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    }
    return {**body, **changes}


def json_like(keys: Iterable[str], words: Iterable[str]) -> st.SearchStrategy[Any]:
    """Any JSON value, made mostly of the words that a checker looks for."""
    words = tuple(words)
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    leaves = leaves | st.sampled_from(words)
    names = st.sampled_from(tuple(keys)) | st.text(max_size=3)
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
        max_leaves=20,
    )
