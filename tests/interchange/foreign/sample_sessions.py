"""One session of each program, with two calls at once, and what a test asks of a history."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
from tests.laws.targets import TARGETS

from turnout import check, render
from turnout.history.log import History
from turnout.interchange.foreign import READERS, ForeignSession
from turnout.model import ModelTurn, Text, UserTurn


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def told(history: History, everything: bool = False) -> list[str]:
    """A history at a glance: who said what, which calls were made and how they ended.

    With `everything`, also what a compaction hides.
    """
    said = []
    turns = [entry for entry in history.entries if isinstance(entry, UserTurn | ModelTurn)]
    for turn in turns if everything else history.turns:
        who = type(turn).__name__.removesuffix("Turn").lower()
        words = [block.text for block in turn.blocks if isinstance(block, Text)]
        calls = turn.tool_calls if isinstance(turn, ModelTurn) else ()
        ends = [f"{call.name}={history.interaction(call.id).status}" for call in calls]
        said.append(f"{who}: {' '.join([*words, *ends])}")
    return said


def refused(history: History) -> list[str]:
    """What any provider would have against going on with it."""
    history.user("go on")
    return [
        f"{place.origin}: {problem.rule}"
        for place in TARGETS
        if not place.provider.envelope
        for problem in check(place.provider.name, render(history, place).body, model=place.model)
    ]


# One session of each program, with two calls at once


def claude(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("message_id", uuid), "model": "claude-sonnet-4-5", "type": "message"}
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": False, "sessionId": "cc-1"}
    return {**base, "message": message, **more}


def use(id: str, **input: Any) -> list[Any]:
    return [{"type": "tool_use", "id": id, "name": "Read", "input": input}]


def result(id: str, text: str, **more: Any) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": id, "content": text, **more}]


CLAUDE = [
    {"type": "summary", "summary": "Two files", "leafUuid": "x"},
    {"type": "file-history-snapshot", "snapshot": {}},
    claude("user", "u1", None, "read both"),
    claude(
        "assistant", "a1", "u1", [{"type": "thinking", "thinking": "Hm.", "signature": "s"}], message_id="m1"
    ),
    claude("assistant", "a2", "a1", use("t1", file_path="a"), message_id="m1"),
    claude("assistant", "a3", "a2", use("t2", file_path="b"), message_id="m1"),
    claude("user", "r1", "a2", result("t1", "A")),
    claude("user", "r2", "a3", result("t2", "no such file", is_error=True)),
    claude("assistant", "a4", "r2", [{"type": "text", "text": "Only A."}], message_id="m2"),
]

CODEX = [
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "cx-1", "instructions": "Be brief."}},
    {"timestamp": "t", "type": "turn_context", "payload": {"model": "gpt-5.1-codex"}},
    *(
        {"timestamp": "t", "type": "response_item", "payload": payload}
        for payload in (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "read both"}]},
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "x",
            },
            {
                "type": "function_call",
                "name": "shell",
                "call_id": "c1",
                "arguments": '{"command":["cat","a"]}',
            },
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "*** Begin Patch"},
            {"type": "function_call_output", "call_id": "c1", "output": "A"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "Done"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Only A."}]},
        )
    ),
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "agent_message", "message": "Only A."}},
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}},
]

GEMINI = [
    {"sessionId": "ge-1", "projectHash": "h", "startTime": "t", "lastUpdated": "t"},
    {"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "read both"}]},
    {"id": "2", "timestamp": "t", "type": "gemini", "content": "wrong"},
    {"$rewindTo": "2"},
    {
        "id": "3",
        "timestamp": "t",
        "type": "gemini",
        "content": "",
        "model": "gemini-3-pro",
        "thoughts": [{"subject": "Files", "description": "Read them.", "timestamp": "t"}],
        "toolCalls": [
            {
                "id": "r-1",
                "name": "read_file",
                "args": {"path": "a"},
                "status": "success",
                "result": [
                    {"functionResponse": {"id": "r-1", "name": "read_file", "response": {"output": "A"}}}
                ],
            },
            {"id": "r-2", "name": "read_file", "args": {}, "status": "cancelled", "resultDisplay": "stopped"},
        ],
    },
    {"id": "4", "timestamp": "t", "type": "error", "content": "quota"},
    {"id": "5", "timestamp": "t", "type": "gemini", "content": "Only A.", "model": "gemini-3-pro"},
    {"$set": {"summary": "Two files"}},
]

OPENCODE = {
    "info": {"id": "ses_1", "title": "Two files"},
    "messages": [
        {
            "info": {"role": "user", "id": "m1"},
            "parts": [
                {"type": "text", "text": "read both"},
                {
                    "type": "file",
                    "mime": "image/png",
                    "url": "data:image/png;base64,aGk=",
                    "filename": "a.png",
                },
            ],
        },
        {
            "info": {"role": "assistant", "providerID": "anthropic", "modelID": "claude-sonnet-4-5"},
            "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "Hm."},
                {
                    "type": "tool",
                    "callID": "t1",
                    "tool": "read",
                    "state": {"status": "completed", "input": {"p": "a"}, "output": "A"},
                },
                {
                    "type": "tool",
                    "callID": "t2",
                    "tool": "read",
                    "state": {"status": "error", "input": {}, "error": "no"},
                },
                {"type": "step-finish"},
                {"type": "step-start"},
                {"type": "text", "text": "Only A."},
                {"type": "agent", "name": "x"},
            ],
        },
    ],
}


def pi(id: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, **more}
    return {"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": message}


PI_MODEL = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api": "anthropic-messages"}
PI = [
    {"type": "session", "version": 3, "id": "pi-1", "timestamp": "t", "cwd": "/x"},
    pi("1", None, "user", "read both"),
    pi("2", "1", "assistant", [{"type": "text", "text": "wrong branch"}], **PI_MODEL),
    pi(
        "3",
        "1",
        "assistant",
        [
            {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "s"},
            {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a"}},
            {"type": "toolCall", "id": "t2", "name": "read", "arguments": {"path": "b"}},
        ],
        **PI_MODEL,
    ),
    pi(
        "4",
        "3",
        "toolResult",
        [{"type": "text", "text": "A"}],
        toolCallId="t1",
        toolName="read",
        isError=False,
    ),
    pi(
        "5",
        "4",
        "toolResult",
        [{"type": "text", "text": "no"}],
        toolCallId="t2",
        toolName="read",
        isError=True,
    ),
    {"type": "session_info", "id": "6", "parentId": "5", "name": "Two files"},
    {"type": "custom", "id": "7", "parentId": "6", "customType": "x", "data": {}},
    pi("8", "7", "assistant", [{"type": "text", "text": "Only A."}], **PI_MODEL),
]

FILES = {
    "claude-code": lines(*CLAUDE),
    "codex": lines(*CODEX),
    "gemini-cli": lines(*GEMINI),
    "opencode": json.dumps(OPENCODE).encode(),
    "pi": lines(*PI),
}


def read(program: str) -> ForeignSession:
    return READERS[program](FILES[program], "s")


def llm_log(path: Path, rows: Iterable[tuple[Any, ...]]) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("""
        CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
        CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT,
            conversation_id TEXT);
        CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,
            tool_call_id TEXT);
        CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT,
            tool_call_id TEXT, exception TEXT);
        INSERT INTO conversations VALUES ('old', 'Old', 'm'), ('new', 'Two files', 'm');
        INSERT INTO tool_calls VALUES (1, '2', 'read', '{"path": "a"}', 't1'), (2, '2', 'read', '{}', 't2');
        INSERT INTO tool_results VALUES (1, '3', 'read', 'A', 't1', NULL);
        INSERT INTO tool_results VALUES (2, '3', 'read', '', 't2', 'Error: no');
    """)
    connection.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?)", list(rows))
    connection.close()
