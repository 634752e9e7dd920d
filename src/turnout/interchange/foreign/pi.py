"""pi: JSON lines that form a tree by `id` and `parentId`; the last line is the current end.

The first versions wrote a plain sequence without ids. A compaction names the first entry that
was kept; an abandoned branch is summarised in the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.message_parts import HeardCall, HeardResult, Item
from ...history.ingest.parts import contents_of
from ...model import Media, Origin, Outcome, Residue, Text, Thinking
from ...plain import dict_in, list_in, loads, text_in
from .foreign_transcript import ForeignSession, TranscriptBuilder, origin_of
from .lines import Record, records_of_lines
from .tree import RecordLink, path_to_last

PASSED_OVER = frozenset({"model_change", "thinking_level_change", "label"})
SAID = frozenset({"message", "custom_message", "branch_summary"})


def read_pi(data: bytes, key: str) -> ForeignSession:
    """The session that a file holds."""
    builder = TranscriptBuilder("pi", Origin("unknown"))
    entries = records_of_lines(data)
    path = path_to_last(
        [RecordLink(entry["id"], text_in(entry.get("parentId"))) for entry in filter(_is_linked, entries)]
    )
    for parent in path.missing:
        builder.context.report("missing_record", parent)
    for entry in entries:
        if _is_linked(entry) and entry["id"] not in path.ids:
            builder.keep_record("other branch", entry)
        else:
            _add_entry(entry, entries, builder)
    return builder.build_session(key)


def _is_linked(entry: Record) -> bool:
    return entry.get("type") != "session" and isinstance(entry.get("id"), str)


def _add_entry(entry: Record, entries: list[Record], builder: TranscriptBuilder) -> None:
    id, kind = text_in(entry.get("id")), text_in(entry.get("type"))
    match kind:
        case "session":
            builder.id = id
        case "session_info":
            if builder.title:
                builder.skip_record("earlier session_info")
            builder.title = text_in(entry.get("name")) or builder.title
        case "message":
            _add_message(dict_in(entry.get("message")), id, builder)
        case "custom_message":
            builder.add_items("user", *_items_of_content(entry.get("content"), builder), turn_id=id)
        case "branch_summary":
            words = f"[Summary of an abandoned branch]\n{text_in(entry.get('summary'))}"
            builder.add_items("user", Text(words), turn_id=id)
        case "compaction":
            builder.add_compaction(text_in(entry.get("summary")), _first_kept(entry, entries))
        case _ if kind in PASSED_OVER:
            builder.skip_record(kind)
        case _:
            builder.keep_record(kind or "entry", entry)


def _first_kept(compaction: Record, entries: list[Record]) -> str:
    """The first turn at or after the entry that a compaction names; that entry may not be a turn."""
    named = text_in(compaction.get("firstKeptEntryId"))
    before = entries[: entries.index(compaction)]
    # If the line of that entry was lost, its child still shows where it was.
    places = (at for at, entry in enumerate(before) if named in (entry.get("id"), entry.get("parentId")))
    if not named or (at := next(places, None)) is None:
        return named
    return next((text_in(entry.get("id")) for entry in before[at:] if _is_turn(entry)), "")


def _is_turn(entry: Record) -> bool:
    role = dict_in(entry.get("message")).get("role")
    return entry.get("type") in SAID and role != "toolResult"


# Messages


def _add_message(message: Record, id: str, builder: TranscriptBuilder) -> None:
    match text_in(message.get("role")):
        case "user" | "custom" | "hookMessage":
            builder.add_items("user", *_items_of_content(message.get("content"), builder), turn_id=id)
        case "assistant":
            origin = origin_of(message.get("provider"), message.get("model"))
            builder.add_items("model", *_reply_items(message, origin, builder), origin=origin, turn_id=id)
            if message.get("errorMessage"):
                builder.keep_record("error", {"message": message["errorMessage"]})
        case "toolResult":
            builder.add_items("tool", _result_of_message(message, builder))
        case "bashExecution" if message.get("excludeFromContext") is not True:
            ran = f"Ran `{text_in(message.get('command'))}`\n{text_in(message.get('output'))}"
            builder.add_items("user", Text(ran), turn_id=id)
        case "branchSummary" | "compactionSummary":
            builder.add_items("user", Text(f"[Summary]\n{text_in(message.get('summary'))}"), turn_id=id)
        case role:
            builder.keep_record(role or "message", message)


def _result_of_message(message: Record, builder: TranscriptBuilder) -> HeardResult:
    status: Any = "error" if message.get("isError") is True else "complete"
    content = contents_of(_items_of_content(message.get("content"), builder))
    return HeardResult(
        text_in(message.get("toolCallId")), text_in(message.get("toolName")), Outcome(status, content)
    )


def _items_of_content(content: Any, builder: TranscriptBuilder) -> Iterator[Item]:
    if isinstance(content, str):
        yield Text(content)
    for block in map(dict_in, list_in(content)):
        if block.get("type") == "image":
            yield Media(text_in(block.get("mimeType")) or "image/png", data=text_in(block.get("data")))
        elif isinstance(block.get("text"), str):
            yield Text(block["text"])
        else:
            yield from builder.read_parts(block)


def _reply_items(message: Record, origin: Origin, builder: TranscriptBuilder) -> Iterator[Item]:
    api = text_in(message.get("api"))
    for block in map(dict_in, list_in(message.get("content"))):
        match text_in(block.get("type")):
            case "thinking":
                residue = _residue_of(api, text_in(block.get("thinkingSignature")), origin)
                yield Thinking(text_in(block.get("thinking")), residue)
            case "toolCall":
                id, name = text_in(block.get("id")), text_in(block.get("name"))
                residue = _residue_of(api, text_in(block.get("thoughtSignature")), origin)
                yield HeardCall(id, name, block.get("arguments"), residue)
            case _:
                yield from _items_of_content([block], builder)


def _residue_of(api: str, signature: str, origin: Origin) -> Residue | None:
    """The private state of a thought, in the shape of the API that wrote it."""
    if not signature:
        return None
    if api == "anthropic-messages":
        return Residue(origin, {"signature": signature})
    if api.startswith("google"):
        return Residue(origin, {"thought_signature": signature})
    try:  # Responses: the whole reasoning item, as JSON
        item = loads(signature)
    except ValueError:
        return None
    return Residue(origin, {"item": item}) if dict_in(item).get("type") == "reasoning" else None
