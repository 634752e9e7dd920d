"""llm from 0.32 on: a tree of messages that forks share; a thread names the tip of one branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.heard import HeardCall, HeardNote, HeardResult, Item, Speaker
from ...model import Origin, Outcome, Text, Thinking
from ...plain import loads
from .llm_log import Log, Row, attached
from .telling import Foreign, Telling, fields, listed, text

TABLES = {"threads", "messages", "parts", "turns"}
SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "model", "tool": "tool", "system": "system"}
BRANCH = """
WITH RECURSIVE branch (hash, parent_hash, role, height) AS (
    SELECT hash, parent_hash, role, 0 FROM messages WHERE hash = ?
    UNION ALL
    SELECT m.hash, m.parent_hash, m.role, height + 1 FROM messages m JOIN branch b ON m.hash = b.parent_hash
    WHERE height < 1000000
)
SELECT * FROM branch ORDER BY height DESC
"""


def latest(log: Log) -> str:
    """The thread that was begun last; "" in an older log."""
    found = log.rows("SELECT id FROM threads ORDER BY id DESC LIMIT 1") if log.tables >= TABLES else []
    return text(found[0]["id"]) if found else ""


def read(log: Log, key: str, id: str) -> Foreign | None:
    """The thread of that id, if there is one."""
    threads = log.rows("SELECT * FROM threads WHERE id = ?", id) if log.tables >= TABLES else []
    if not threads:
        return None
    telling = Telling("llm", Origin("unknown"))
    telling.id, telling.title = id, text(threads[0]["name"])
    models = {
        text(turn["tip_message_hash"]): text(turn["resolved_model"]) or text(turn["model"])
        for turn in log.rows("SELECT * FROM turns WHERE thread_id = ? ORDER BY id", id)
    }
    for message in log.rows(BRANCH, threads[0]["tip_message_hash"]):
        _tell(message, models, log, telling)
    return telling.finished(key)


def _tell(message: Row, models: dict[str, str], log: Log, telling: Telling) -> None:
    parts = log.rows("SELECT * FROM parts WHERE message_hash = ? ORDER BY position", message["hash"])
    items = [item for part in parts for item in _items(part, log)]
    speaker = SPEAKERS.get(text(message["role"]), "user")
    if speaker == "system":
        telling.system += [item.text for item in items if isinstance(item, Text)]
        return
    origin = Origin("unknown", "", models.get(text(message["hash"]), ""))
    telling.say(speaker, *items, origin=origin)


def _items(part: Row, log: Log) -> Iterator[Item]:
    payload = _payload(part)
    match part["type"]:
        case "text":
            yield Text(_said(part, payload, log))
        case "reasoning":
            yield Thinking(_said(part, payload, log))
        case "tool_call":
            yield HeardCall(_call_id(payload), text(payload.get("name")), payload.get("arguments"))
        case "tool_result":
            yield _result(payload)
        case "attachment":
            id = fields(payload.get("attachment")).get("id")
            yield from map(attached, log.rows("SELECT * FROM attachments WHERE id = ?", id))
        case other:
            yield HeardNote(f"llm {other}", payload)


def _payload(part: Row) -> dict[str, Any]:
    try:
        return fields(loads(part["payload"])) if part["payload"] else {}
    except ValueError:
        return {"unreadable": text(part["payload"])}


def _said(part: Row, payload: dict[str, Any], log: Log) -> str:
    """Words of its own, or pieces of which some are fragments that other messages share."""
    if part["text"] is not None:
        return text(part["text"])
    pieces = map(fields, listed(payload.get("text_ref")))
    return "".join(_piece(piece, log) for piece in pieces) or text(payload.get("text"))


def _piece(piece: dict[str, Any], log: Log) -> str:
    if "fragment" not in piece:
        return text(piece.get("literal"))
    found = log.rows("SELECT content FROM fragments WHERE id = ?", piece["fragment"])
    return text(found[0]["content"]) if found else ""


def _result(payload: dict[str, Any]) -> HeardResult:
    failed = text(payload.get("exception"))
    outcome = Outcome("error" if failed else "complete", text(payload.get("output")) or failed or ())
    return HeardResult(_call_id(payload), text(payload.get("name")), outcome)


def _call_id(payload: dict[str, Any]) -> str:
    return text(payload.get("tool_call_id"))
