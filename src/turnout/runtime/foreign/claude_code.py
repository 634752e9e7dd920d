"""Claude Code: one JSON line a record, linked to a tree by `parentUuid`; the last leaf is where it stands.

A reply is written as several records with the same message id, one a block, and the results of
parallel calls hang each under its own call. So the path to the leaf is taken together with
what belongs to its replies, in the order of the file. What lies beside the path (a branch that
was left, a subagent) is kept as notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.formats import ANTHROPIC
from ...model import Origin
from .lines import Record, records
from .telling import Foreign, Telling, fields, listed, text
from .tree import Link, path_to_last

TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
SPOKEN = ("user", "assistant")


def read(data: bytes, key: str) -> Foreign:
    """The session that a transcript file holds."""
    telling = Telling("claude-code", Origin("anthropic"))
    found = records(data)
    beside = _kinds_beside_the_path(found, telling)
    on_path = _whole_replies({at: each for at, each in enumerate(found) if at not in beside}, telling)
    for at, record in enumerate(found):
        if at in beside:
            telling.keep(beside[at], record)
        elif at in on_path:
            _tell(on_path[at], on_path, telling)
    return telling.finished(key)


# Which records are told


def _kinds_beside_the_path(found: list[Record], telling: Telling) -> dict[int, str]:
    """The places of records that are not part of the conversation as it stands, and what they are."""
    # A subagent has a file of its own in newer versions: there the side chain is all there is.
    is_subagents = all(record.get("isSidechain") is True for record in found if _is_linked(record))
    side = {} if is_subagents else {at: "subagent" for at, record in enumerate(found) if _is_side(record)}
    main = [record for at, record in enumerate(found) if at not in side]
    standing = _standing(main, telling)
    return side | {
        at: "other branch"
        for at, record in enumerate(found)
        if at not in side and _is_linked(record) and record["uuid"] not in standing
    }


def _is_side(record: Record) -> bool:
    return record.get("isSidechain") is True


def _is_linked(record: Record) -> bool:
    spoken = record.get("type") in SPOKEN or _queued_prompt(record) is not None
    return spoken and isinstance(record.get("uuid"), str)


def _standing(main: list[Record], telling: Telling) -> set[str]:
    """The ids on the way from the last record to the first, with all pieces of the replies on it."""
    known = {record["uuid"]: record for record in main if isinstance(record.get("uuid"), str)}
    spoken = [record for record in main if _is_linked(record)]
    links = [Link(record["uuid"], _parent(record)) for record in main if record.get("uuid") in known]
    while links and not _is_linked(known[links[-1].id]):
        links.pop()
    path = path_to_last(links)
    for parent in path.missing:
        telling.door.found("missing_record", parent)
    standing = set(path.ids)
    messages = {_message_id(known[id]) for id in standing} - {""}
    standing |= {record["uuid"] for record in spoken if _message_id(record) in messages}
    calls = {call for id in standing for call in _ids(known[id], "tool_use", "id")}
    standing |= {
        record["uuid"] for record in spoken if calls & set(_ids(record, "tool_result", "tool_use_id"))
    }
    return standing


def _parent(record: Record) -> str:
    return text(record.get("parentUuid")) or text(record.get("logicalParentUuid"))


def _message_id(record: Record) -> str:
    return text(fields(record.get("message")).get("id")) if record.get("type") == "assistant" else ""


def _ids(record: Record, kind: str, name: str) -> Iterator[str]:
    for block in listed(fields(record.get("message")).get("content")):
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(name), str):
            yield block[name]


# Replies


def _whole_replies(told: dict[int, Record], telling: Telling) -> dict[int, Record]:
    """The records by their places: each reply whole at its first one, a line that was written twice once."""
    whole: dict[int, Record] = {}
    replies: dict[str, Record] = {}
    lines: dict[str, Record] = {}
    for at, record in told.items():
        uuid, name = text(record.get("uuid")), _message_id(record)
        first = lines.setdefault(uuid, record) if uuid else record
        if first is not record and first == record:
            telling.pass_over("repeated line")
        elif name in replies:
            replies[name]["message"]["content"] += listed(record["message"].get("content"))
            replies[name]["pieces"].append(uuid)
        elif name and isinstance(content := record["message"].get("content"), list):
            message = {**record["message"], "content": list(content)}
            whole[at] = replies[name] = {**record, "message": message, "pieces": [uuid]}
        else:
            whole[at] = record
    return whole


# Telling


def _tell(record: Record, on_path: dict[int, Record], telling: Telling) -> None:
    kind = text(record.get("type"))
    telling.id = telling.id or text(record.get("sessionId"))
    if kind in TITLES:
        if telling.title:
            telling.pass_over(f"earlier {kind}")
        telling.title = text(record.get(TITLES[kind])) or telling.title
    elif (prompt := _queued_prompt(record)) is not None:
        _say_queued_prompt(prompt, record, on_path, telling)
    elif kind not in SPOKEN or not isinstance(record.get("message"), dict):
        telling.keep(text(record.get("subtype")) or kind or "record", record)
    elif record.get("isCompactSummary") is True:
        summary = _content_text(record["message"].get("content"))
        telling.compacted(summary, _first_kept(record, list(on_path.values())))
    elif record.get("isVisibleInTranscriptOnly") is True or record.get("isApiErrorMessage") is True:
        telling.keep("shown only", record)
    else:
        _say_message(record, telling)


def _say_message(record: Record, telling: Telling) -> None:
    message = record["message"]
    origin = Origin("anthropic", "", text(message.get("model")))
    said = {"role": text(record.get("type")), **message}
    telling.message(ANTHROPIC, said, origin, turn_id=text(record.get("uuid")))


def _queued_prompt(record: Record) -> Any:
    """What the user typed while the model worked: Claude Code writes it as an attachment, and no more."""
    attachment = fields(record.get("attachment"))
    return attachment.get("prompt") if attachment.get("type") == "queued_command" else None


def _say_queued_prompt(prompt: Any, record: Record, on_path: dict[int, Record], telling: Telling) -> None:
    messages = (fields(other.get("message")) for other in on_path.values())
    if any(message.get("role") == "user" and message.get("content") == prompt for message in messages):
        telling.pass_over("queued prompt")  # it was said once more, in a message of its own
    else:
        telling.message(ANTHROPIC, {"role": "user", "content": prompt}, turn_id=text(record.get("uuid")))


def _first_kept(summary: Record, told: list[Record]) -> str:
    """The turn that begins the stretch which a compaction left in place; "" where it left none."""
    before = told[: told.index(summary)]
    boundary = next((each for each in reversed(before) if each.get("subtype") == "compact_boundary"), {})
    kept = fields(fields(boundary.get("compactMetadata")).get("preservedSegment"))
    head = text(kept.get("headUuid"))
    at = next((at for at, record in enumerate(before) if head in _uuids(record)), None)
    if not head or at is None:
        return head
    turns = (text(record.get("uuid")) for record in before[at:] if _is_turn(record))
    return next(turns, "")


def _uuids(record: Record) -> list[str]:
    return record.get("pieces") or [text(record.get("uuid"))]


def _is_turn(record: Record) -> bool:
    if record.get("type") == "assistant":
        return True
    content = fields(record.get("message")).get("content")
    results = [fields(block).get("type") == "tool_result" for block in listed(content)]
    return record.get("type") == "user" and (isinstance(content, str) or not all(results))


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text(fields(block).get("text")) for block in listed(content))
