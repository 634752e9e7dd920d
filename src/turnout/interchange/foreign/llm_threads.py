"""llm from 0.32 on: a tree of messages that forks share; a thread names the tip of one branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.message_parts import HeardCall, HeardNote, HeardResult, Item, Speaker
from ...model import Origin, Outcome, Text, Thinking
from ...plain import dict_in, list_in, loads, text_in
from .foreign_transcript import ForeignSession, TranscriptBuilder
from .llm_log import LlmLog, Row, media_of_row

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


def latest_thread(log: LlmLog) -> str:
    """The newest thread; "" in an older log."""
    if not log.tables >= TABLES:
        return ""
    found = log.rows("SELECT max(id) AS id FROM (SELECT id FROM threads UNION SELECT thread_id FROM turns)")
    return text_in(found[0]["id"])


def read_thread(log: LlmLog, key: str, id: str) -> ForeignSession | None:
    """The thread of that id, if there is one."""
    if not log.tables >= TABLES:
        return None
    threads = log.rows("SELECT * FROM threads WHERE id = ?", id)
    turns = log.rows("SELECT * FROM turns WHERE thread_id = ? ORDER BY id", id)
    if not threads and not turns:
        return None
    builder = TranscriptBuilder("llm", Origin("unknown"))
    builder.id, builder.title = id, text_in(threads[0]["name"]) if threads else ""
    models = {
        text_in(turn["tip_message_hash"]): text_in(turn["resolved_model"]) or text_in(turn["model"])
        for turn in turns
    }
    tip = text_in(threads[0]["tip_message_hash"]) if threads else ""
    for message in _messages_up_to(log, tip, _hashes_in_turns(turns), builder):
        _add_message(message, models, log, builder)
    return builder.build_session(key)


# The branch, also where a row is missing


def _hashes_in_turns(turns: list[Row]) -> list[str]:
    """The messages that the thread's turns name, the last ones first."""
    named = [(text_in(turn.get("parent_message_hash")), text_in(turn["tip_message_hash"])) for turn in turns]
    return [hash for pair in reversed(named) for hash in reversed(pair) if hash]


def _messages_up_to(log: LlmLog, tip: str, anchors: list[str], builder: TranscriptBuilder) -> list[Row]:
    """The messages up to the tip. Where one is missing, the branch continues at one that a turn names."""
    branch: list[Row] = []
    missing: list[str] = []
    wanted = tip or next(iter(anchors), "")
    for candidate in (wanted, *anchors):
        if not wanted or candidate in {row["hash"] for row in branch}:
            continue
        if found := log.rows(BRANCH, candidate):
            branch = found + branch
            wanted = text_in(branch[0]["parent_hash"])
        if wanted and wanted not in missing:
            missing.append(wanted)
            builder.context.report("missing_record", wanted)
            # Its parts may still be in the log, but not its role.
            if items := _items_of_message(wanted, log, builder):
                builder.keep_record("parts of a missing message", items)
    return branch


# Messages


def _add_message(message: Row, models: dict[str, str], log: LlmLog, builder: TranscriptBuilder) -> None:
    items = _items_of_message(text_in(message["hash"]), log, builder)
    speaker = SPEAKERS.get(text_in(message["role"]), "user")
    if speaker == "system":
        builder.system += [item.text for item in items if isinstance(item, Text)]
        return
    origin = Origin("unknown", "", models.get(text_in(message["hash"]), ""))
    builder.add_items(speaker, *items, origin=origin)


def _items_of_message(hash: str, log: LlmLog, builder: TranscriptBuilder) -> list[Item]:
    parts = log.rows("SELECT * FROM parts WHERE message_hash = ? ORDER BY position", hash)
    return [item for part in parts for item in _items_of_part(part, log, builder)]


def _items_of_part(part: Row, log: LlmLog, builder: TranscriptBuilder) -> Iterator[Item]:
    payload = _payload_of(part)
    match part["type"]:
        case "text":
            yield Text(_text_of_part(part, payload, log, builder))
        case "reasoning":
            yield Thinking(_text_of_part(part, payload, log, builder))
        case "tool_call":
            yield HeardCall(_call_id(payload), text_in(payload.get("name")), payload.get("arguments"))
        case "tool_result":
            yield _result_of_payload(payload)
        case "attachment":
            id = dict_in(payload.get("attachment")).get("id")
            rows = log.rows("SELECT * FROM attachments WHERE id = ?", id)
            if not rows:
                builder.context.report("missing_record", f"attachment {id}")
            yield from map(media_of_row, rows)
        case other:
            builder.kept[text_in(other) or "part"] += 1
            yield HeardNote(f"llm:{other}", payload)


def _payload_of(part: Row) -> dict[str, Any]:
    try:
        return dict_in(loads(part["payload"])) if part["payload"] else {}
    except ValueError:
        return {"unreadable": text_in(part["payload"])}


def _text_of_part(part: Row, payload: dict[str, Any], log: LlmLog, builder: TranscriptBuilder) -> str:
    """The text of a part, or the pieces of it; some are fragments that messages share."""
    if part["text"] is not None:
        return text_in(part["text"])
    pieces = map(dict_in, list_in(payload.get("text_ref")))
    said = "".join(_text_of_piece(piece, log, builder) for piece in pieces)
    return said or text_in(payload.get("text")) or text_in(payload.get("unreadable"))


def _text_of_piece(piece: dict[str, Any], log: LlmLog, builder: TranscriptBuilder) -> str:
    if "fragment" not in piece:
        return text_in(piece.get("literal"))
    found = log.rows("SELECT content FROM fragments WHERE id = ?", piece["fragment"])
    if not found:
        builder.context.report("missing_record", f"fragment {piece['fragment']}")
    return text_in(found[0]["content"]) if found else ""


def _result_of_payload(payload: dict[str, Any]) -> HeardResult:
    failed = text_in(payload.get("exception"))
    outcome = Outcome("error" if failed else "complete", text_in(payload.get("output")) or failed or ())
    return HeardResult(_call_id(payload), text_in(payload.get("name")), outcome)


def _call_id(payload: dict[str, Any]) -> str:
    return text_in(payload.get("tool_call_id"))
