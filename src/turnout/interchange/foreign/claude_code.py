"""Claude Code: one JSON line a record, linked to a tree by `parentUuid`; the last leaf is the current end.

A reply is written as several records with the same message id, one a block, and the results of
parallel calls are children of their own calls. So the reader takes the path to the leaf and all
records of its replies, in the order of the file. Records beside the path (an abandoned branch,
a subagent) are kept as notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.formats import ANTHROPIC
from ...model import Origin
from ...plain import dict_in, list_in, text_in
from .foreign_transcript import ForeignSession, TranscriptBuilder
from .lines import Record, records_of_lines
from .tree import RecordLink, path_to_last

TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
SPOKEN = ("user", "assistant")


def read_claude_code(data: bytes, key: str) -> ForeignSession:
    """The session that a transcript file holds."""
    builder = TranscriptBuilder("claude-code", Origin("anthropic"))
    found = records_of_lines(data)
    beside = _kinds_beside_the_path(found, builder)
    on_path = _whole_replies({at: each for at, each in enumerate(found) if at not in beside}, builder)
    for at, record in enumerate(found):
        if at in beside:
            builder.keep_record(beside[at], record)
        elif at in on_path:
            _add_record(on_path[at], on_path, builder)
    return builder.build_session(key)


# Which records are read


def _kinds_beside_the_path(found: list[Record], builder: TranscriptBuilder) -> dict[int, str]:
    """The positions of records that are not part of the current conversation, and what they are."""
    # Newer versions write a subagent to a separate file, in which every record is on the side chain.
    is_subagents = all(record.get("isSidechain") is True for record in found if _is_linked(record))
    side = {} if is_subagents else {at: "subagent" for at, record in enumerate(found) if _is_side(record)}
    main = [record for at, record in enumerate(found) if at not in side]
    standing = _standing_ids(main, builder)
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


def _standing_ids(main: list[Record], builder: TranscriptBuilder) -> set[str]:
    """The ids on the path from the last record to the first, with all pieces of the replies on it."""
    known = {record["uuid"]: record for record in main if isinstance(record.get("uuid"), str)}
    spoken = [record for record in main if _is_linked(record)]
    links = [RecordLink(record["uuid"], _parent(record)) for record in main if record.get("uuid") in known]
    while links and not _is_linked(known[links[-1].id]):
        links.pop()
    path = path_to_last(links)
    for parent in path.missing:
        builder.context.report("missing_record", parent)
    standing = set(path.ids)
    messages = {_message_id(known[id]) for id in standing} - {""}
    standing |= {record["uuid"] for record in spoken if _message_id(record) in messages}
    calls = {call for id in standing for call in _ids_in_blocks(known[id], "tool_use", "id")}
    standing |= {
        record["uuid"]
        for record in spoken
        if calls & set(_ids_in_blocks(record, "tool_result", "tool_use_id"))
    }
    return standing


def _parent(record: Record) -> str:
    return text_in(record.get("parentUuid")) or text_in(record.get("logicalParentUuid"))


def _message_id(record: Record) -> str:
    return text_in(dict_in(record.get("message")).get("id")) if record.get("type") == "assistant" else ""


def _ids_in_blocks(record: Record, kind: str, name: str) -> Iterator[str]:
    for block in list_in(dict_in(record.get("message")).get("content")):
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(name), str):
            yield block[name]


# Replies


def _whole_replies(on_path: dict[int, Record], builder: TranscriptBuilder) -> dict[int, Record]:
    """The records by position: each reply is whole at its first record, and repeated lines are dropped."""
    whole: dict[int, Record] = {}
    replies: dict[str, Record] = {}
    lines: dict[str, Record] = {}
    for at, record in on_path.items():
        uuid, name = text_in(record.get("uuid")), _message_id(record)
        first = lines.setdefault(uuid, record) if uuid else record
        if first is not record and first == record:
            builder.skip_record("repeated line")
        elif name in replies:
            replies[name]["message"]["content"] += list_in(record["message"].get("content"))
            replies[name]["pieces"].append(uuid)
        elif name and isinstance(content := record["message"].get("content"), list):
            message = {**record["message"], "content": list(content)}
            whole[at] = replies[name] = {**record, "message": message, "pieces": [uuid]}
        else:
            whole[at] = record
    return whole


# Records to messages


def _add_record(record: Record, on_path: dict[int, Record], builder: TranscriptBuilder) -> None:
    kind = text_in(record.get("type"))
    builder.id = builder.id or text_in(record.get("sessionId"))
    if kind in TITLES:
        if builder.title:
            builder.skip_record(f"earlier {kind}")
        builder.title = text_in(record.get(TITLES[kind])) or builder.title
    elif (prompt := _queued_prompt(record)) is not None:
        _add_queued_prompt(prompt, record, on_path, builder)
    elif kind not in SPOKEN or not isinstance(record.get("message"), dict):
        builder.keep_record(text_in(record.get("subtype")) or kind or "record", record)
    elif record.get("isCompactSummary") is True:
        summary = _content_text(record["message"].get("content"))
        builder.add_compaction(summary, _first_kept(record, list(on_path.values())))
    elif record.get("isVisibleInTranscriptOnly") is True or record.get("isApiErrorMessage") is True:
        builder.keep_record("shown only", record)
    else:
        _add_message(record, builder)


def _add_message(record: Record, builder: TranscriptBuilder) -> None:
    message = record["message"]
    origin = Origin("anthropic", "", text_in(message.get("model")))
    with_role = {"role": text_in(record.get("type")), **message}
    builder.add_message(ANTHROPIC, with_role, origin, turn_id=text_in(record.get("uuid")))


def _queued_prompt(record: Record) -> Any:
    """What the user typed while the model worked: Claude Code writes it as an attachment only."""
    attachment = dict_in(record.get("attachment"))
    return attachment.get("prompt") if attachment.get("type") == "queued_command" else None


def _add_queued_prompt(
    prompt: Any, record: Record, on_path: dict[int, Record], builder: TranscriptBuilder
) -> None:
    messages = (dict_in(other.get("message")) for other in on_path.values())
    if any(message.get("role") == "user" and message.get("content") == prompt for message in messages):
        builder.skip_record("queued prompt")  # a message of the session repeats it
    else:
        builder.add_message(
            ANTHROPIC, {"role": "user", "content": prompt}, turn_id=text_in(record.get("uuid"))
        )


def _first_kept(summary: Record, on_path: list[Record]) -> str:
    """The first turn that a compaction left in place; "" where it left none."""
    before = on_path[: on_path.index(summary)]
    boundary = next((each for each in reversed(before) if each.get("subtype") == "compact_boundary"), {})
    kept = dict_in(dict_in(boundary.get("compactMetadata")).get("preservedSegment"))
    head = text_in(kept.get("headUuid"))
    at = next((at for at, record in enumerate(before) if head in _uuids(record)), None)
    if not head or at is None:
        return head
    turns = (text_in(record.get("uuid")) for record in before[at:] if _is_turn(record))
    return next(turns, "")


def _uuids(record: Record) -> list[str]:
    return record.get("pieces") or [text_in(record.get("uuid"))]


def _is_turn(record: Record) -> bool:
    if record.get("type") == "assistant":
        return True
    content = dict_in(record.get("message")).get("content")
    results = [dict_in(block).get("type") == "tool_result" for block in list_in(content)]
    return record.get("type") == "user" and (isinstance(content, str) or not all(results))


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text_in(dict_in(block).get("text")) for block in list_in(content))
