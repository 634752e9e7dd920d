"""A repaired session as a file that another agent resumes: Claude Code, Codex and pi.

The conversation is rendered for the provider of that agent first. So the file holds exactly what
this provider accepts: each call with one result in its place. What only turnout can keep (thinking
of other models, notes about damage) is not in it. Every file is a new one with a new id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from msgspec import Struct

from ..history.log import History
from ..plain import dict_in, dumps, list_in, loads, text_in
from ..targets.request import render
from .rescue_places import claude_folder, pi_folder

Record = dict[str, Any]
CLAUDE = "anthropic:claude-sonnet-5"
GPT = "openai-responses:gpt-5.2"


class RescuedFile(Struct, frozen=True):
    """A file for another program: its content, its place below the program's folder, and the command."""

    data: bytes
    place: str
    command: str


class NewFile(Struct, frozen=True):
    """What a new file needs besides the conversation. `stamp` is a time such as 2026-01-02T03:04:05.678Z."""

    id: str
    folder: Path
    stamp: str
    title: str = ""


def write_for_claude_code(history: History, new: NewFile) -> RescuedFile:
    """A transcript that `claude --resume ID` opens."""
    records: list[Record] = []
    for at, message in enumerate(_claude_messages(history)):
        uuid = _uuid(new, at)
        parent = _uuid(new, at - 1) if at else None
        records.append(_claude_record(message, uuid, parent, new))
    if new.title:
        records.insert(0, {"type": "summary", "summary": new.title, "leafUuid": _uuid(new, len(records) - 1)})
    place = f"projects/{claude_folder(new.folder)}/{new.id}.jsonl"
    return RescuedFile(_lines(records), place, f"claude --resume {new.id}")


def _claude_messages(history: History) -> list[Record]:
    body = loads(render(history, CLAUDE).body)
    return [_without_marks(message) for message in list_in(body.get("messages"))]


def _without_marks(value: Any) -> Any:
    """Marks for the prompt cache belong to one request and not to a session."""
    if isinstance(value, dict):
        return {name: _without_marks(each) for name, each in value.items() if name != "cache_control"}
    return [_without_marks(each) for each in value] if isinstance(value, list) else value


def _claude_record(message: Record, uuid: str, parent: str | None, new: NewFile) -> Record:
    role = text_in(message.get("role"))
    said: Record = {"role": role, "content": message.get("content")}
    if role == "assistant":
        content = (
            said["content"] if isinstance(said["content"], list) else [_text_part(text_in(said["content"]))]
        )
        calls = any(dict_in(block).get("type") == "tool_use" for block in content)
        said |= {
            "id": f"msg_{uuid.replace('-', '')[:24]}",
            "type": "message",
            "model": CLAUDE.partition(":")[2],
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": str(new.folder),
        "sessionId": new.id,
        "version": "2.0.0",
        "gitBranch": "",
        "type": role,
        "message": said,
        "uuid": uuid,
        "timestamp": new.stamp,
    }


def write_for_codex(history: History, new: NewFile) -> RescuedFile:
    """A rollout that `codex resume ID` opens."""
    # No `model_provider`: Codex refuses to resume a session that names another one than its own.
    meta = {
        "id": new.id,
        "timestamp": new.stamp,
        "cwd": str(new.folder),
        "originator": "codex_cli_rs",
        "cli_version": "0.60.0",
        "instructions": None,
        "source": "cli",
    }
    records = [_codex_line("session_meta", meta, new)]
    for item in list_in(loads(render(history, GPT).body).get("input")):
        for payload in _codex_items(dict_in(item)):
            records.append(_codex_line("response_item", payload, new))
            records += [_codex_line("event_msg", event, new) for event in _codex_events(payload)]
    day = new.stamp[:10].replace("-", "/")
    written = new.stamp[:19].replace(":", "-")
    place = f"sessions/{day}/rollout-{written}-{new.id}.jsonl"
    return RescuedFile(_lines(records), place, f"codex resume {new.id}")


def _codex_line(kind: str, payload: Record, new: NewFile) -> Record:
    return {"timestamp": new.stamp, "type": kind, "payload": payload}


def _codex_items(item: Record) -> Iterator[Record]:
    """An item as Codex writes it: messages have a type, and their content is a list of parts."""
    if "role" not in item:
        yield item
    elif item["role"] not in ("system", "developer"):
        kind = "output_text" if item["role"] == "assistant" else "input_text"
        content = item.get("content")
        parts = [{"type": kind, "text": content}] if isinstance(content, str) else list_in(content)
        yield {"type": "message", "role": item["role"], "content": parts}


def _codex_events(payload: Record) -> Iterator[Record]:
    """What the screen of Codex shows again for an item."""
    if payload.get("type") == "message":
        texts = [text_in(dict_in(part).get("text")) for part in list_in(payload.get("content"))]
        kind = "user_message" if payload.get("role") == "user" else "agent_message"
        if said := "\n".join(text for text in texts if text):
            yield {"type": kind, "message": said}


def write_for_pi(history: History, new: NewFile) -> RescuedFile:
    """A session that `pi --session FILE` opens."""
    head = {"type": "session", "version": 3, "id": new.id, "timestamp": new.stamp, "cwd": str(new.folder)}
    records: list[Record] = [head]
    names: dict[str, str] = {}
    parent: str | None = None
    for message in _claude_messages(history):
        for said in _pi_messages(message, names):
            id = _uuid(new, len(records)).replace("-", "")[:8]
            entry = {"type": "message", "id": id, "parentId": parent, "timestamp": new.stamp, "message": said}
            records.append(entry)
            parent = id
    stamp = new.stamp.replace(":", "-").replace(".", "-")
    place = f"sessions/{pi_folder(new.folder)}/{stamp}_{new.id}.jsonl"
    return RescuedFile(_lines(records), place, f"pi --session {new.id}")


def _pi_messages(message: Record, names: dict[str, str]) -> Iterator[Record]:
    content = message.get("content")
    blocks = (
        [_text_part(content)] if isinstance(content, str) else [dict_in(block) for block in list_in(content)]
    )
    if message.get("role") == "assistant":
        names |= {b["id"]: b["name"] for b in blocks if b.get("type") == "tool_use"}
        yield _pi_reply(blocks)
        return
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {
                "role": "toolResult",
                "toolCallId": block.get("tool_use_id"),
                "toolName": names.get(text_in(block.get("tool_use_id")), ""),
                "content": _pi_content(block.get("content")),
                "isError": block.get("is_error") is True,
                "timestamp": 0,
            }
    if said := [block for block in blocks if block.get("type") != "tool_result"]:
        yield {"role": "user", "content": _pi_content(said), "timestamp": 0}


def _pi_reply(blocks: Iterable[Record]) -> Record:
    content: list[Record] = []
    for block in blocks:
        match block.get("type"):
            case "tool_use":
                call = {"type": "toolCall", "id": block.get("id"), "name": block.get("name")}
                content.append({**call, "arguments": block.get("input") or {}})
            case "thinking":
                thought = {"type": "thinking", "thinking": text_in(block.get("thinking"))}
                content.append({**thought, "thinkingSignature": text_in(block.get("signature"))})
            case "text":
                content.append(_text_part(text_in(block.get("text"))))
    calls = any(part["type"] == "toolCall" for part in content)
    nothing = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
    return {
        "role": "assistant",
        "content": content,
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": CLAUDE.partition(":")[2],
        "usage": {**nothing, "cost": {**dict.fromkeys(nothing, 0), "total": 0}},
        "stopReason": "toolUse" if calls else "stop",
        "timestamp": 0,
    }


def _pi_content(content: Any) -> list[Record]:
    if isinstance(content, str):
        return [_text_part(content)]
    parts: list[Record] = []
    for block in map(dict_in, list_in(content)):
        source = dict_in(block.get("source"))
        if block.get("type") == "image" and source.get("data"):
            parts.append(
                {"type": "image", "data": source["data"], "mimeType": text_in(source.get("media_type"))}
            )
        elif block.get("type") == "text":
            parts.append(_text_part(text_in(block.get("text"))))
        else:
            parts.append(_text_part(dumps(block)))
    return parts


def _text_part(text: str) -> Record:
    return {"type": "text", "text": text}


def _uuid(new: NewFile, at: int) -> str:
    """The id of a record: the same file has the same ids."""
    return str(uuid5(UUID(new.id), str(at)))


def _lines(records: Iterable[Record]) -> bytes:
    return b"".join(dumps(record).encode() + b"\n" for record in records)


WRITERS: dict[str, Callable[[History, NewFile], RescuedFile]] = {
    "claude-code": write_for_claude_code,
    "codex": write_for_codex,
    "pi": write_for_pi,
}
