"""llm from 0.32 on: a tree of messages that forks share; a thread names the tip of one branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.heard import HeardCall, HeardNote, HeardResult, Item, Speaker
from ...model import Origin, Outcome, Text, Thinking
from ...plain import loads
from .foreign_transcript import Foreign, Telling, fields, listed, text
from .llm_log import Log, Row, attached

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
    if not log.tables >= TABLES:
        return ""
    found = log.rows("SELECT max(id) AS id FROM (SELECT id FROM threads UNION SELECT thread_id FROM turns)")
    return text(found[0]["id"])


def read(log: Log, key: str, id: str) -> Foreign | None:
    """The thread of that id, if there is one."""
    if not log.tables >= TABLES:
        return None
    threads = log.rows("SELECT * FROM threads WHERE id = ?", id)
    turns = log.rows("SELECT * FROM turns WHERE thread_id = ? ORDER BY id", id)
    if not threads and not turns:
        return None
    telling = Telling("llm", Origin("unknown"))
    telling.id, telling.title = id, text(threads[0]["name"]) if threads else ""
    models = {
        text(turn["tip_message_hash"]): text(turn["resolved_model"]) or text(turn["model"]) for turn in turns
    }
    tip = text(threads[0]["tip_message_hash"]) if threads else ""
    for message in _branch(log, tip, _anchors(turns), telling):
        _tell(message, models, log, telling)
    return telling.finished(key)


# The branch, also where a row is missing


def _anchors(turns: list[Row]) -> list[str]:
    """The messages that the thread's turns name, the last ones first."""
    named = [(text(turn.get("parent_message_hash")), text(turn["tip_message_hash"])) for turn in turns]
    return [hash for pair in reversed(named) for hash in reversed(pair) if hash]


def _branch(log: Log, tip: str, anchors: list[str], telling: Telling) -> list[Row]:
    """The messages up to the tip. Where one is missing, those go on that the thread names before it."""
    branch: list[Row] = []
    missing: list[str] = []
    wanted = tip or next(iter(anchors), "")
    for candidate in (wanted, *anchors):
        if not wanted or candidate in {row["hash"] for row in branch}:
            continue
        if found := log.rows(BRANCH, candidate):
            branch = found + branch
            wanted = text(branch[0]["parent_hash"])
        if wanted and wanted not in missing:
            missing.append(wanted)
            telling.door.found("missing_record", wanted)
            # Its parts may still be there, but not who spoke.
            if items := _items_of(wanted, log, telling):
                telling.keep("parts of a missing message", items)
    return branch


# Messages


def _tell(message: Row, models: dict[str, str], log: Log, telling: Telling) -> None:
    items = _items_of(text(message["hash"]), log, telling)
    speaker = SPEAKERS.get(text(message["role"]), "user")
    if speaker == "system":
        telling.system += [item.text for item in items if isinstance(item, Text)]
        return
    origin = Origin("unknown", "", models.get(text(message["hash"]), ""))
    telling.say(speaker, *items, origin=origin)


def _items_of(hash: str, log: Log, telling: Telling) -> list[Item]:
    parts = log.rows("SELECT * FROM parts WHERE message_hash = ? ORDER BY position", hash)
    return [item for part in parts for item in _items(part, log, telling)]


def _items(part: Row, log: Log, telling: Telling) -> Iterator[Item]:
    payload = _payload(part)
    match part["type"]:
        case "text":
            yield Text(_words(part, payload, log, telling))
        case "reasoning":
            yield Thinking(_words(part, payload, log, telling))
        case "tool_call":
            yield HeardCall(_call_id(payload), text(payload.get("name")), payload.get("arguments"))
        case "tool_result":
            yield _result(payload)
        case "attachment":
            id = fields(payload.get("attachment")).get("id")
            rows = log.rows("SELECT * FROM attachments WHERE id = ?", id)
            if not rows:
                telling.door.found("missing_record", f"attachment {id}")
            yield from map(attached, rows)
        case other:
            telling.kept[text(other) or "part"] += 1
            yield HeardNote(f"llm:{other}", payload)


def _payload(part: Row) -> dict[str, Any]:
    try:
        return fields(loads(part["payload"])) if part["payload"] else {}
    except ValueError:
        return {"unreadable": text(part["payload"])}


def _words(part: Row, payload: dict[str, Any], log: Log, telling: Telling) -> str:
    """Words of its own, or pieces of which some are fragments that other messages share."""
    if part["text"] is not None:
        return text(part["text"])
    pieces = map(fields, listed(payload.get("text_ref")))
    said = "".join(_piece(piece, log, telling) for piece in pieces)
    return said or text(payload.get("text")) or text(payload.get("unreadable"))


def _piece(piece: dict[str, Any], log: Log, telling: Telling) -> str:
    if "fragment" not in piece:
        return text(piece.get("literal"))
    found = log.rows("SELECT content FROM fragments WHERE id = ?", piece["fragment"])
    if not found:
        telling.door.found("missing_record", f"fragment {piece['fragment']}")
    return text(found[0]["content"]) if found else ""


def _result(payload: dict[str, Any]) -> HeardResult:
    failed = text(payload.get("exception"))
    outcome = Outcome("error" if failed else "complete", text(payload.get("output")) or failed or ())
    return HeardResult(_call_id(payload), text(payload.get("name")), outcome)


def _call_id(payload: dict[str, Any]) -> str:
    return text(payload.get("tool_call_id"))
