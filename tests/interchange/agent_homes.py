"""The files that other agents leave in a home folder, with one conversation in each format."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
from tests.interchange.foreign import sample_sessions as samples

from turnout.interchange.rescue_places import claude_folder, pi_folder

QWEN: list[dict[str, Any]] = [
    {"type": "user", "message": {"role": "user", "parts": [{"text": "read both files"}]}},
    {
        "type": "assistant",
        "model": "qwen3-coder-plus",
        "message": {
            "role": "model",
            "parts": [
                {"text": "Reading."},
                {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}},
                {"functionCall": {"id": "c2", "name": "read_file", "args": {"path": "b"}}},
            ],
        },
    },
    *(
        {
            "type": "tool_result",
            "message": {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": id, "name": "read_file", "response": {"output": text}}}
                ],
            },
        }
        for id, text in (("c1", "aaa"), ("c2", "bbb"))
    ),
    {"type": "assistant", "message": {"role": "model", "parts": [{"text": "Both are short."}]}},
    {"type": "user", "message": {"role": "user", "parts": [{"text": "thanks"}]}},
]


def qwen_lines() -> bytes:
    records = []
    for at, record in enumerate(QWEN):
        link = {
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "qw-1",
            "cwd": "/w",
        }
        records.append({**link, **record})
    return samples.lines(*records)


def program_files(folder: Path) -> dict[str, tuple[str, bytes]]:
    """For each program: where its session of this folder is, below the home folder, and its content."""
    name = claude_folder(folder)
    codex = samples.FILES["codex"]
    hashed = sha256(str(folder).encode()).hexdigest()
    meta = {"id": "cx-9", "cwd": str(folder), "timestamp": "2026-01-02T03:04:05Z"}
    head = json.dumps({"type": "session_meta", "payload": meta}).encode() + b"\n"
    rest = b"\n".join(line for line in codex.split(b"\n") if b"session_meta" not in line)
    return {
        "claude-code": (f".claude/projects/{name}/cc-1.jsonl", samples.FILES["claude-code"]),
        "codex": (".codex/sessions/2026/01/02/rollout-2026-01-02-cx-9.jsonl", head + rest),
        "gemini-cli": (f".gemini/tmp/{hashed}/chats/session-1.jsonl", samples.FILES["gemini-cli"]),
        "pi": (f".pi/agent/sessions/{pi_folder(folder)}/s_1.jsonl", samples.FILES["pi"]),
        "qwen-code": (f".qwen/projects/{name}/chats/qw-1.jsonl", qwen_lines()),
    }


def furnish_home(home: Path, folder: Path) -> None:
    """Every program has left one session of this folder."""
    for place, data in program_files(folder).values():
        path = home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    write_opencode_database(home / ".local/share/opencode/opencode.db", folder)


def write_opencode_database(path: Path, folder: Path, export: dict[str, Any] | None = None) -> None:
    export = export or samples.OPENCODE
    path.parent.mkdir(parents=True, exist_ok=True)
    with apsw.Connection(str(path)) as db:
        db.execute(
            "CREATE TABLE session (id text, parent_id text, directory text, title text, revert text,"
            " time_created integer, time_updated integer)"
        )
        db.execute("CREATE TABLE message (id text, session_id text, time_created integer, data text)")
        db.execute("CREATE TABLE part (id text, message_id text, session_id text, data text)")
        db.execute(
            "INSERT INTO session VALUES ('ses_1', NULL, ?, 'A chat', NULL, 1, 1760000000000)", (str(folder),)
        )
        for at, message in enumerate(export["messages"]):
            id = f"msg_{at:03}"
            db.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (id, at, json.dumps(message["info"])))
            for number, part in enumerate(message["parts"]):
                row = (f"prt_{at:03}_{number:03}", id, json.dumps(part))
                db.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", row)
