"""Claude Code: one JSON line a record, linked to a tree by `parentUuid`; the last leaf is where it stands.

A reply is written as several records with the same message id, one a block, and the results of
parallel calls hang each under its own call. So the path to the leaf is taken together with
what belongs to its replies, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.formats import ANTHROPIC
from ...model import Origin
from .telling import Foreign, Telling, fields, listed, records, text

TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
SPOKEN = ("user", "assistant")

Record = dict[str, Any]


def read(data: bytes, key: str) -> Foreign:
    """The session that a transcript file holds."""
    telling = Telling("claude-code", Origin("anthropic"))
    told = _path(list(records(data, telling)))
    replies: dict[str, Record] = {}
    for record in _merged(told, replies):
        _tell(record, telling)
    return telling.finished(key)


def _tell(record: Record, telling: Telling) -> None:
    kind = text(record.get("type"))
    telling.id = telling.id or text(record.get("sessionId"))
    if kind in TITLES:
        telling.title = text(record.get(TITLES[kind])) or telling.title
    elif kind not in SPOKEN or not isinstance(record.get("message"), dict):
        telling.keep(text(record.get("subtype")) or kind or "record", record)
    elif record.get("isCompactSummary") is True:
        telling.compacted(_content_text(record["message"].get("content")))
    elif record.get("isVisibleInTranscriptOnly") is True or record.get("isApiErrorMessage") is True:
        telling.keep("shown only", record)
    else:
        message = record["message"]
        telling.message(
            ANTHROPIC, {"role": kind, **message}, Origin("anthropic", "", text(message.get("model")))
        )


def _merged(told: list[Record], replies: dict[str, Record]) -> Iterator[Record]:
    """Each reply whole, at the place of its first record."""
    whole: list[Record] = []
    for record in told:
        message = fields(record.get("message"))
        name = text(message.get("id")) if record.get("type") == "assistant" else ""
        if name and name in replies:
            replies[name]["message"]["content"] += listed(message.get("content"))
            continue
        if name and isinstance(message.get("content"), list):
            record = replies[name] = {**record, "message": {**message, "content": list(message["content"])}}
        whole.append(record)
    yield from whole


def _path(found: list[Record]) -> list[Record]:
    """The records of the conversation as it stands; subagents and other branches are counted in a note."""
    main = [record for record in found if record.get("isSidechain") is not True]
    standing = _standing(main)
    there = [record for record in main if not _is_linked(record) or record["uuid"] in standing]
    if left := len(found) - len(there):
        there.insert(0, {"type": "other branches and subagents", "records": left})
    return there


def _is_linked(record: Record) -> bool:
    return record.get("type") in SPOKEN and isinstance(record.get("uuid"), str)


def _standing(main: list[Record]) -> set[str]:
    """The ids on the way from the last record to the first, with all pieces of the replies on it."""
    known = {record["uuid"]: record for record in main if isinstance(record.get("uuid"), str)}
    spoken = [record for record in known.values() if record.get("type") in SPOKEN]
    standing: set[str] = set()
    at: Any = spoken[-1]["uuid"] if spoken else None
    while at in known and at not in standing:
        standing.add(at)
        at = known[at].get("parentUuid") or known[at].get("logicalParentUuid")
    messages = {_message_id(known[id]) for id in standing} - {""}
    standing |= {record["uuid"] for record in spoken if _message_id(record) in messages}
    calls = {call for id in standing for call in _ids(known[id], "tool_use", "id")}
    standing |= {
        record["uuid"] for record in spoken if calls & set(_ids(record, "tool_result", "tool_use_id"))
    }
    return standing


def _message_id(record: Record) -> str:
    return text(fields(record.get("message")).get("id")) if record.get("type") == "assistant" else ""


def _ids(record: Record, kind: str, name: str) -> Iterator[str]:
    for block in listed(fields(record.get("message")).get("content")):
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(name), str):
            yield block[name]


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text(fields(block).get("text")) for block in listed(content))
