"""Files as other programs write them, with a marker in every place that says something.

Shapes after public descriptions and samples of each program's files. A marker is a word such
as `mk7x`, found again wherever its text went.
"""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import apsw

Record = dict[str, Any]

MARKER = re.compile(r"mk\d+x")
PNG = "iVBORw0KGgo"
_numbers = count(1)


def mark(words: str = "") -> str:
    """Words that no other place has."""
    return f"{words} mk{next(_numbers)}x".strip()


def picture() -> str:
    """Base64 with a marker in it."""
    return PNG + mark() + "A"


def lines_of(*records: Any) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


# Claude Code

_CC = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/me/work",
    "sessionId": "11111111-2222-3333-4444-555555555555",
    "version": "2.1.168",
    "gitBranch": "main",
    "timestamp": "2026-06-09T13:42:47.091Z",
}


def _cc(uuid: str, parent: str | None, kind: str, **more: Any) -> Record:
    return {"parentUuid": parent, **_CC, "type": kind, "uuid": uuid, **more}


def _cc_user(uuid: str, parent: str | None, content: Any, **more: Any) -> Record:
    return _cc(uuid, parent, "user", message={"role": "user", "content": content}, **more)


def _cc_reply(uuid: str, parent: str, message: str, block: Record, **more: Any) -> Record:
    body = {
        "model": "claude-sonnet-4-5",
        "id": message,
        "type": "message",
        "role": "assistant",
        "content": [block],
        "stop_reason": None,
        "usage": {"input_tokens": 4, "output_tokens": 2},
    }
    return _cc(uuid, parent, "assistant", message=body, requestId="req_1", **more)


def _use(id: str, name: str, **input: Any) -> Record:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def _cc_result(uuid: str, parent: str, id: str, content: Any, **more: Any) -> Record:
    block = {"tool_use_id": id, "type": "tool_result", "content": content, **more}
    return _cc_user(uuid, parent, [block], sourceToolAssistantUUID=parent)


def _image() -> Record:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture()}}


CLAUDE_CODE = [
    {"type": "ai-title", "aiTitle": mark("Fix the parser"), "sessionId": _CC["sessionId"]},
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"note": mark()}},
    _cc_user("u0", None, f"<command-name>/init</command-name>{mark()}", isMeta=True),
    _cc_user("u1", "u0", [{"type": "text", "text": mark("read both")}, _image()]),
    _cc_reply(
        "a1", "u1", "m1", {"type": "thinking", "thinking": mark("Two files."), "signature": "c2lnbmVk"}
    ),
    _cc_reply("a2", "a1", "m1", {"type": "text", "text": mark("I look.")}),
    _cc_reply("a3", "a2", "m1", _use("toolu_1", "Read", file_path=mark("a"))),
    _cc_reply("a4", "a3", "m1", _use("toolu_2", "Read", file_path=mark("b"))),
    _cc("p1", "a4", "progress", data={"type": "bash_progress", "output": mark()}),
    _cc_result("r1", "a3", "toolu_1", mark("A")),
    _cc_result("r2", "a4", "toolu_2", [{"type": "text", "text": mark("B")}, _image()], is_error=True),
    _cc("q1", "r2", "attachment", attachment={"type": "queued_command", "prompt": mark("also c")}),
    _cc_reply("a5", "q1", "m2", _use("toolu_3", "Task", prompt=mark("search"))),
    _cc_user("s1", None, mark("search"), isSidechain=True, agentId="x1"),
    _cc_reply("s2", "s1", "m3", {"type": "text", "text": mark("found")}, isSidechain=True, agentId="x1"),
    _cc_result("r3", "a5", "toolu_3", [{"type": "text", "text": mark("found it")}]),
    _cc_reply("a6", "r3", "m4", {"type": "text", "text": mark("Only A.")}),
    _cc("t1", "a6", "system", subtype="turn_duration", durationMs=9, note=mark()),
    _cc_user("u2", "t1", mark("the wrong way")),
    _cc_reply("a7", "u2", "m5", {"type": "text", "text": mark("wrong")}),
    _cc_user("u3", "t1", mark("the right way")),
    _cc_reply("a8", "u3", "m6", {"type": "text", "text": mark("right")}),
    _cc("b1", None, "system", subtype="compact_boundary", logicalParentUuid="a8", content=mark()),
    _cc_user("c1", "b1", mark("We read A."), isCompactSummary=True, isVisibleInTranscriptOnly=True),
    _cc_user("u4", "c1", mark("and now?")),
    _cc_reply("a9", "u4", "m7", {"type": "text", "text": mark("Done.")}),
    {"type": "last-prompt", "lastPrompt": mark("and now?"), "leafUuid": "a9", "sessionId": _CC["sessionId"]},
]

CLAUDE_CODE_INTERLEAVED = [
    _cc_user("u1", None, mark("begin")),
    _cc_reply("a1", "u1", "m1", {"type": "text", "text": mark("begun")}),
    _cc_user("u2", "a1", mark("one terminal")),
    _cc_user("v2", "a1", mark("another terminal")),
    _cc_reply("a2", "u2", "m2", _use("toolu_1", "Read", file_path=mark("a"))),
    _cc_reply("w2", "v2", "m3", _use("toolu_2", "Read", file_path=mark("b"))),
    _cc_result("r2", "a2", "toolu_1", mark("A")),
    _cc_result("x2", "w2", "toolu_2", mark("B")),
    _cc_reply("a3", "r2", "m4", {"type": "text", "text": mark("first")}),
    _cc_reply("w3", "x2", "m5", {"type": "text", "text": mark("second")}),
]

CLAUDE_CODE_SUBAGENT = [
    {**record, "isSidechain": True, "agentId": "a1b2"} if "uuid" in record else record
    for record in CLAUDE_CODE_INTERLEAVED[:3]
]


# Codex


def _codex(kind: str, **payload: Any) -> Record:
    return {"timestamp": "2026-02-16T10:00:00Z", "type": kind, "payload": payload}


def _codex_message(role: str, said: str, *more: Record) -> Record:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": said}
    return _codex("response_item", type="message", role=role, content=[part, *more])


def _codex_prompt(said: str) -> list[Record]:
    """Codex writes what was said as an item and as an event."""
    return [_codex_message("user", said), _codex("event_msg", type="user_message", message=said)]


def _codex_opening() -> list[Record]:
    asked, thought, told = mark("read both"), mark("Two files."), mark("I look.")
    url = f"data:image/png;base64,{picture()}"
    return [
        _codex_message("user", asked, {"type": "input_image", "image_url": url}),
        _codex("event_msg", type="user_message", message=asked, images=[url]),
        _codex("event_msg", type="agent_reasoning", text=thought),
        _codex(
            "response_item",
            type="reasoning",
            summary=[{"type": "summary_text", "text": thought}],
            encrypted_content="gAAAA",
        ),
        _codex("event_msg", type="agent_message", message=told),
        _codex_message("assistant", told),
    ]


_KEPT = mark("read both, then b")
_SUMMARY = mark("We read A.")

CODEX = [
    _codex("session_meta", id="019c6694-aa05-76e0-98b1-46390fb71add", instructions=mark("Be brief.")),
    _codex_message("user", f"<environment_context>\n  <cwd>/home/me</cwd> {mark()}\n</environment_context>"),
    _codex("event_msg", type="task_started", turn_id="1"),
    _codex("turn_context", cwd="/home/me", model="gpt-5.1-codex"),
    *_codex_opening(),
    _codex(
        "response_item", type="function_call", name="shell", call_id="c1", arguments=f'{{"p":"{mark()}"}}'
    ),
    _codex(
        "response_item", type="custom_tool_call", name="apply_patch", call_id="c2", input=mark("*** Begin")
    ),
    _codex(
        "response_item",
        type="local_shell_call",
        id="s1",
        call_id="c3",
        status="completed",
        action={"type": "exec", "command": ["ls", mark()]},
    ),
    _codex("response_item", type="function_call_output", call_id="c1", output=mark("A")),
    _codex("response_item", type="custom_tool_call_output", call_id="c2", output=mark("Done")),
    _codex("response_item", type="function_call_output", call_id="c3", output=mark("files")),
    _codex("event_msg", type="token_count", info={"total_token_usage": {"total_tokens": 9}}),
    _codex("response_item", type="web_search_call", status="completed", action={"query": mark("docs")}),
    _codex("event_msg", type="web_search_end", query=mark("docs")),
    *_codex_prompt(mark("the wrong way")),
    _codex_message("assistant", mark("wrong")),
    _codex("event_msg", type="thread_rolled_back", num_turns=1, note=mark()),
    *_codex_prompt(_KEPT),
    _codex_message("assistant", mark("right")),
    _codex("event_msg", type="turn_aborted", reason=mark("interrupted")),
    _codex(
        "compacted",
        message=_SUMMARY,
        replacement_history=[
            _codex_message("user", _KEPT)["payload"],
            _codex_message("user", f"Another model began: {_SUMMARY}")["payload"],
            {"type": "compaction", "encrypted_content": mark("gAAAA")},
        ],
    ),
    *_codex_prompt(mark("and now?")),
    _codex_message("assistant", mark("Done.")),
]

CODEX_BARE = [
    {"id": "old-1", "timestamp": "2025-05-01T00:00:00Z", "instructions": mark("Be brief.")},
    {"record_type": "state", "note": mark()},
    *(
        record["payload"]
        for record in (
            _codex_message("user", mark("list files")),
            _codex("item", type="function_call", name="shell", call_id="o1", arguments=f'{{"p":"{mark()}"}}'),
            _codex("item", type="function_call_output", call_id="o1", output=mark("a.txt")),
            _codex_message("assistant", mark("One file.")),
        )
    ),
]


# Gemini CLI


def _gemini(id: str, kind: str, content: Any, **more: Any) -> Record:
    return {"id": id, "timestamp": "2026-09-28T10:00:00.000Z", "type": kind, "content": content, **more}


def _gemini_call(id: str, **more: Any) -> Record:
    return {"id": id, "name": "read_file", "args": {"file_path": mark("a")}, "status": "success", **more}


def _answered(id: str, **response: Any) -> Record:
    return {"functionResponse": {"id": id, "name": "read_file", "response": response}}


_GEMINI_HEAD = {
    "sessionId": "7c1f0a3e-5b2d-4e8f-9a61-2d4c8b0e6f13",
    "projectHash": "f" * 64,
    "startTime": "2026-09-28T10:00:00.000Z",
    "lastUpdated": "2026-09-28T10:00:00.000Z",
    "kind": "main",
}
_GEMINI_CALLS = _gemini(
    "g1",
    "gemini",
    mark("I look."),
    model="gemini-3-pro",
    thoughts=[{"subject": mark("Files"), "description": mark("Read them."), "timestamp": "t"}],
    toolCalls=[
        _gemini_call("r1", result=[_answered("r1", output=mark("A"))]),
        _gemini_call(
            "r2",
            result=[
                _answered("r2", output=mark("B")),
                {"inlineData": {"mimeType": "image/png", "data": picture()}},
            ],
        ),
        _gemini_call("r3", status="cancelled", resultDisplay=mark("stopped")),
        _gemini_call("r4", status="error", result=[_answered("r4", error=mark("no such file"))]),
        _gemini_call("r5", result=mark("plain words")),
    ],
)
_UNDER_WAY = {
    **_GEMINI_CALLS,
    "toolCalls": [
        {**call, "status": "executing", "result": None, "resultDisplay": None}
        for call in _GEMINI_CALLS["toolCalls"]
    ],
}
_GEMINI_MESSAGES = [
    _gemini("s0", "user", [{"text": f"<session_context>{mark()}</session_context>"}]),
    _gemini(
        "u1",
        "user",
        [{"text": mark("read both")}, {"inlineData": {"mimeType": "image/png", "data": picture()}}],
    ),
    _GEMINI_CALLS,
    _gemini("e1", "error", mark("quota")),
    _gemini("g2", "gemini", [{"text": mark("hm"), "thought": True}, {"text": mark("Only A.")}]),
]

GEMINI_LOG = [
    {**_GEMINI_HEAD, "messages": [_GEMINI_MESSAGES[0]]},
    _GEMINI_MESSAGES[1],
    {"$set": {"lastUpdated": "2026-09-28T10:00:01.000Z"}},
    _UNDER_WAY,
    *_GEMINI_MESSAGES[2:],
    _gemini("u2", "user", [{"text": mark("the wrong way")}]),
    _gemini("g3", "gemini", mark("wrong")),
    {"$rewindTo": "u2"},
    _gemini("u3", "user", [{"text": mark("the right way")}]),
    _gemini("i1", "info", mark("Chat history compressed")),
    {
        "$set": {
            "messages": [
                _gemini("x1", "user", [{"text": mark("<state_snapshot>We read A.")}]),
                _gemini("x2", "gemini", [{"text": mark("Got it.")}]),
            ]
        }
    },
    _gemini("u4", "user", [{"text": mark("and now?")}]),
    _gemini("g4", "gemini", mark("Done."), model="gemini-3-pro"),
    {"$set": {"summary": mark("Two files")}},
]
GEMINI_CHAT = {**_GEMINI_HEAD, "messages": _GEMINI_MESSAGES, "summary": mark("Two files")}
GEMINI_CHECKPOINT = [
    {"role": "user", "parts": [{"text": mark("read it")}]},
    {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"p": mark()}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": mark()}}}]},
    {"role": "model", "parts": [{"text": mark("Only A.")}]},
]


# opencode


def _opencode(id: str, role: str, *parts: Record, **info: Any) -> Record:
    about = {"id": id, "sessionID": "ses_1", "role": role, "time": {"created": 1}, **info}
    if role == "assistant":
        about |= {"providerID": "anthropic", "modelID": "claude-sonnet-4-5"}
    named = [{"id": f"{id}_{at}", "messageID": id, **part} for at, part in enumerate(parts)]
    return {"info": about, "parts": named}


def _opencode_tool(id: str, **state: Any) -> Record:
    return {"type": "tool", "callID": id, "tool": "read", "state": {"input": {"p": mark()}, **state}}


def _opencode_text(said: str) -> Record:
    return {"type": "text", "text": said}


def _opencode_file() -> Record:
    url = f"data:image/png;base64,{picture()}"
    return {"type": "file", "mime": "image/png", "url": url, "filename": f"{mark()}.png"}


OPENCODE = {
    "info": {"id": "ses_1", "title": mark("Two files"), "version": "1.14", "directory": "/home/me"},
    "messages": [
        _opencode("msg_1", "user", _opencode_text(mark("read both")), _opencode_file()),
        _opencode(
            "msg_2",
            "assistant",
            {"type": "step-start", "snapshot": "abc"},
            {
                "type": "reasoning",
                "text": mark("Two files."),
                "metadata": {"anthropic": {"signature": "c2lnbmVk"}},
            },
            _opencode_text(mark("I look.")),
            _opencode_tool(
                "toolu_1", status="completed", output=mark("A"), attachments=[_opencode_file()], title="a"
            ),
            _opencode_tool("toolu_2", status="error", error=mark("no such file")),
            {"type": "step-finish", "reason": "tool-calls", "tokens": {"input": 1}},
            {"type": "patch", "hash": "abc", "files": ["a"]},
            {"type": "step-start"},
            _opencode_text(mark("Only A.")),
            {"type": "agent", "name": mark("explore")},
            {"type": "step-finish", "reason": "stop"},
        ),
        _opencode(
            "msg_3", "user", {"type": "subtask", "prompt": mark("look"), "description": "d", "agent": "x"}
        ),
        _opencode(
            "msg_4",
            "assistant",
            _opencode_tool("toolu_3", status="running"),
            error={"name": "MessageAbortedError", "data": {"message": mark("aborted")}},
        ),
        _opencode("msg_5", "user", {"type": "compaction", "auto": True, "note": mark()}),
        _opencode("msg_6", "assistant", _opencode_text(mark("We read A.")), summary=True),
        _opencode("msg_7", "user", _opencode_text(mark("and now?"))),
        _opencode("msg_8", "assistant", _opencode_text(mark("Done."))),
    ],
}
OPENCODE_REVERTED = {
    "info": {**OPENCODE["info"], "revert": {"messageID": "msg_7", "snapshot": "abc"}},  # type: ignore[dict-item]
    "messages": OPENCODE["messages"],
}


# pi


def _pi(id: str, parent: str | None, kind: str = "message", **more: Any) -> Record:
    return {"type": kind, "id": id, "parentId": parent, "timestamp": "2024-12-03T14:00:00.000Z", **more}


def _pi_message(id: str, parent: str | None, role: str, content: Any, **more: Any) -> Record:
    return _pi(id, parent, message={"role": role, "content": content, "timestamp": 1706918401000, **more})


_PI_REPLY = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5"}


def _pi_call(id: str) -> Record:
    return {"type": "toolCall", "id": id, "name": "read", "arguments": {"path": mark("a")}}


def _pi_text(words: str) -> Record:
    return {"type": "text", "text": mark(words)}


def _pi_result(id: str, parent: str, call: str, *content: Record, **more: Any) -> Record:
    return _pi_message(
        id, parent, "toolResult", list(content), toolCallId=call, toolName="read", isError=False, **more
    )


PI = [
    {"type": "session", "version": 3, "id": "pi-1", "timestamp": "t", "cwd": "/home/me"},
    _pi("a0", None, "model_change", provider="anthropic", modelId="claude-sonnet-4-5"),
    _pi_message("a1", "a0", "user", [_pi_text("read both"), {"type": "image", "data": picture()}]),
    _pi_message(
        "a2",
        "a1",
        "assistant",
        [
            {"type": "thinking", "thinking": mark("Two files."), "thinkingSignature": "c2lnbmVk"},
            _pi_text("I look."),
            _pi_call("t1"),
            _pi_call("t2"),
        ],
        **_PI_REPLY,
        stopReason="toolUse",
    ),
    _pi_result(
        "a3", "a2", "t1", _pi_text("A"), {"type": "image", "data": picture(), "mimeType": "image/png"}
    ),
    _pi_result("a4", "a3", "t2", _pi_text("no such file"), details={"x": 1}),
    _pi_message("a5", "a4", "assistant", [_pi_text("wrong")], **_PI_REPLY, stopReason="stop"),
    _pi_message("a6", "a5", "user", mark("the wrong way")),
    _pi("a7", "a4", "branch_summary", fromId="a6", summary=mark("The wrong way was tried.")),
    _pi_message("a8", "a7", "assistant", [_pi_text("Only A.")], **_PI_REPLY, stopReason="stop"),
    _pi("a9", "a8", "session_info", name=mark("Two files")),
    _pi("b0", "a9", "custom", customType="x", data={"count": mark()}),
    _pi("b1", "b0", "custom_message", customType="x", content=mark("Injected."), display=True),
    _pi_message("b2", "b1", "bashExecution", None, command=mark("ls"), output=mark("a"), exitCode=0),
    _pi("b3", "b2", "thinking_level_change", thinkingLevel="high"),
    _pi_message("b4", "b3", "user", mark("and then?")),
    _pi_message(
        "b5", "b4", "assistant", [], **_PI_REPLY, stopReason="error", errorMessage=mark("overloaded")
    ),
    _pi("b6", "b5", "compaction", summary=mark("We read A."), firstKeptEntryId="b3", tokensBefore=50000),
    _pi_message("b7", "b6", "user", mark("and now?")),
    _pi_message("b8", "b7", "assistant", [_pi_text("Done.")], **_PI_REPLY, stopReason="stop"),
]
PI_PLAIN = [
    {"type": "session", "id": "pi-0", "timestamp": "t", "cwd": "/home/me"},
    *(
        {name: value for name, value in record.items() if name not in ("id", "parentId")}
        for record in PI[2:6]
    ),
]

LOGS: dict[str, tuple[str, list[bytes]]] = {
    "claude-code": ("claude-code", lines_of(*CLAUDE_CODE)),
    "claude-code, two terminals": ("claude-code", lines_of(*CLAUDE_CODE_INTERLEAVED)),
    "claude-code, a subagent's file": ("claude-code", lines_of(*CLAUDE_CODE_SUBAGENT)),
    "codex": ("codex", lines_of(*CODEX)),
    "codex, bare items": ("codex", lines_of(*CODEX_BARE)),
    "gemini-cli": ("gemini-cli", lines_of(*GEMINI_LOG)),
    "pi": ("pi", lines_of(*PI)),
    "pi, without ids": ("pi", lines_of(*PI_PLAIN)),
}
DOCUMENTS: dict[str, tuple[str, Any]] = {
    "gemini-cli": ("gemini-cli", GEMINI_CHAT),
    "opencode": ("opencode", OPENCODE),
    "opencode, reverted": ("opencode", OPENCODE_REVERTED),
}


# llm: the tables of its log, as rows

LLM_OLD: dict[str, list[Record]] = {
    "conversations": [{"id": "01a", "name": mark("Two files"), "model": "gpt-4o"}],
    "responses": [
        {"id": "1", "conversation_id": "01a", "prompt": mark("read both"), "system": mark(), "response": ""},
        {"id": "2", "conversation_id": "01a", "prompt": "", "system": None, "response": mark("Only A.")},
        {
            "id": "3",
            "conversation_id": "01a",
            "prompt": mark("and?"),
            "system": None,
            "response": mark("No."),
        },
    ],
    "tool_calls": [
        {
            "id": 1,
            "response_id": "1",
            "name": "read",
            "arguments": f'{{"p":"{mark()}"}}',
            "tool_call_id": "t1",
        },
        {
            "id": 2,
            "response_id": "1",
            "name": "read",
            "arguments": f'{{"p":"{mark()}"}}',
            "tool_call_id": "t2",
        },
    ],
    "tool_results": [
        {"id": 1, "response_id": "2", "name": "read", "output": mark("A"), "tool_call_id": "t1"},
        {"id": 2, "response_id": "2", "name": "read", "exception": mark("no"), "tool_call_id": "t2"},
    ],
    "attachments": [{"id": "png", "type": "image/png", "url": f"https://example.com/{mark()}.png"}],
    "prompt_attachments": [{"response_id": "3", "attachment_id": "png", "order": 0}],
}


def _part(message: str, kind: str, said: str | None = None, position: int = 0, **payload: Any) -> Record:
    written = json.dumps(payload) if payload else None
    return {"message_hash": message, "position": position, "type": kind, "text": said, "payload": written}


LLM_THREADS: dict[str, list[Record]] = {
    "responses": [],
    "conversations": [],
    "threads": [{"id": "01b", "name": mark("Two files"), "tip_message_hash": "f"}],
    "turns": [
        {"id": "1", "thread_id": "01b", "parent_message_hash": "a", "tip_message_hash": "b", "model": "m"},
        {"id": "2", "thread_id": "01b", "parent_message_hash": "c", "tip_message_hash": "d", "model": "m"},
        {"id": "3", "thread_id": "01b", "parent_message_hash": "e", "tip_message_hash": "f", "model": "m"},
    ],
    "messages": [
        {"hash": hash, "parent_hash": parent, "role": role}
        for hash, parent, role in (
            ("s", None, "system"),
            ("a", "s", "user"),
            ("b", "a", "assistant"),
            ("c", "b", "tool"),
            ("d", "c", "assistant"),
            ("e", "d", "user"),
            ("f", "e", "assistant"),
        )
    ],
    "parts": [
        _part("s", "text", mark("Be brief.")),
        _part("a", "text", text_ref=[{"fragment": 1}, {"literal": mark("read both")}]),
        _part("a", "attachment", position=1, attachment={"id": "png"}),
        _part("b", "reasoning", mark("Two files.")),
        _part("b", "tool_call", position=1, name="read", arguments={"p": mark()}, tool_call_id="t1"),
        _part("b", "tool_call", position=2, name="read", arguments={"p": mark()}, tool_call_id="t2"),
        _part("c", "tool_result", name="read", output=mark("A"), tool_call_id="t1"),
        _part("c", "tool_result", position=1, name="read", exception=mark("no"), tool_call_id="t2"),
        _part("d", "text", mark("Only A.")),
        _part("e", "text", mark("and?")),
        _part("f", "text", mark("No.")),
        _part("f", "something_new", position=1, value=mark()),
    ],
    "fragments": [{"id": 1, "content": mark("A fragment.")}],
    "attachments": [{"id": "png", "type": "image/png", "url": f"https://example.com/{mark()}.png"}],
}
LLM_COLUMNS = {
    "conversations": ["id", "name", "model"],
    "responses": ["id", "model", "resolved_model", "prompt", "system", "response", "conversation_id"],
    "tool_calls": ["id", "response_id", "name", "arguments", "tool_call_id"],
    "tool_results": ["id", "response_id", "name", "output", "tool_call_id", "exception"],
    "attachments": ["id", "type", "path", "url", "content"],
    "prompt_attachments": ["response_id", "attachment_id", "order"],
    "threads": ["id", "name", "tip_message_hash"],
    "turns": ["id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "resolved_model"],
    "messages": ["hash", "parent_hash", "role"],
    "parts": ["message_hash", "position", "type", "text", "payload"],
    "fragments": ["id", "content"],
}
DATABASES = {"up to 0.31": LLM_OLD, "from 0.32 on": LLM_THREADS}


def write_database(path: Path, tables: dict[str, list[Record]]) -> None:
    """A log of llm with these rows."""
    connection = apsw.Connection(str(path))
    for table, rows in tables.items():
        columns = LLM_COLUMNS[table]
        names = ", ".join(f'"{name}"' for name in columns)
        connection.execute(f"CREATE TABLE {table} ({names})")
        for row in rows:
            marks = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", [row.get(name) for name in columns])
    connection.close()
