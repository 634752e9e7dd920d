"""pi: JSON lines that form a tree by `id` and `parentId`; the last one is where the session stands.

The first versions wrote a plain sequence without ids. A compaction names the first entry that
was kept; what a branch left behind is a summary in the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.ingest.heard import HeardCall, HeardResult, Item
from ...history.ingest.parts import said
from ...model import Media, Origin, Outcome, Residue, Text, Thinking
from ...plain import loads
from .lines import Record, records
from .telling import Foreign, Telling, fields, listed, origin_of, text
from .tree import Link, path_to_last

PASSED_OVER = frozenset({"model_change", "thinking_level_change", "label"})
SAID = frozenset({"message", "custom_message", "branch_summary"})


def read(data: bytes, key: str) -> Foreign:
    """The session that a file holds."""
    telling = Telling("pi", Origin("unknown"))
    entries = records(data)
    path = path_to_last(
        [Link(entry["id"], text(entry.get("parentId"))) for entry in filter(_is_linked, entries)]
    )
    for parent in path.missing:
        telling.door.found("missing_record", parent)
    for entry in entries:
        if _is_linked(entry) and entry["id"] not in path.ids:
            telling.keep("other branch", entry)
        else:
            _tell(entry, entries, telling)
    return telling.finished(key)


def _is_linked(entry: Record) -> bool:
    return entry.get("type") != "session" and isinstance(entry.get("id"), str)


def _tell(entry: Record, entries: list[Record], telling: Telling) -> None:
    id, kind = text(entry.get("id")), text(entry.get("type"))
    match kind:
        case "session":
            telling.id = id
        case "session_info":
            if telling.title:
                telling.pass_over("earlier session_info")
            telling.title = text(entry.get("name")) or telling.title
        case "message":
            _message(fields(entry.get("message")), id, telling)
        case "custom_message":
            telling.say("user", *_content(entry.get("content"), telling), turn_id=id)
        case "branch_summary":
            words = f"[Summary of a branch that was left]\n{text(entry.get('summary'))}"
            telling.say("user", Text(words), turn_id=id)
        case "compaction":
            telling.compacted(text(entry.get("summary")), _first_kept(entry, entries))
        case _ if kind in PASSED_OVER:
            telling.pass_over(kind)
        case _:
            telling.keep(kind or "entry", entry)


def _first_kept(compaction: Record, entries: list[Record]) -> str:
    """The first turn at or after the entry that a compaction names; the entry itself need not be one."""
    named = text(compaction.get("firstKeptEntryId"))
    before = entries[: entries.index(compaction)]
    # If the entry's own line was lost, the one that follows it still tells where it stood.
    places = (at for at, entry in enumerate(before) if named in (entry.get("id"), entry.get("parentId")))
    if not named or (at := next(places, None)) is None:
        return named
    return next((text(entry.get("id")) for entry in before[at:] if _is_turn(entry)), "")


def _is_turn(entry: Record) -> bool:
    role = fields(entry.get("message")).get("role")
    return entry.get("type") in SAID and role != "toolResult"


# Messages


def _message(message: Record, id: str, telling: Telling) -> None:
    match text(message.get("role")):
        case "user" | "custom" | "hookMessage":
            telling.say("user", *_content(message.get("content"), telling), turn_id=id)
        case "assistant":
            origin = origin_of(message.get("provider"), message.get("model"))
            telling.say("model", *_reply(message, origin, telling), origin=origin, turn_id=id)
            if message.get("errorMessage"):
                telling.keep("error", {"message": message["errorMessage"]})
        case "toolResult":
            telling.say("tool", _result(message, telling))
        case "bashExecution" if message.get("excludeFromContext") is not True:
            ran = f"Ran `{text(message.get('command'))}`\n{text(message.get('output'))}"
            telling.say("user", Text(ran), turn_id=id)
        case "branchSummary" | "compactionSummary":
            telling.say("user", Text(f"[Summary]\n{text(message.get('summary'))}"), turn_id=id)
        case role:
            telling.keep(role or "message", message)


def _result(message: Record, telling: Telling) -> HeardResult:
    status: Any = "error" if message.get("isError") is True else "complete"
    content = said(_content(message.get("content"), telling))
    return HeardResult(
        text(message.get("toolCallId")), text(message.get("toolName")), Outcome(status, content)
    )


def _content(content: Any, telling: Telling) -> Iterator[Item]:
    if isinstance(content, str):
        yield Text(content)
    for block in map(fields, listed(content)):
        if block.get("type") == "image":
            yield Media(text(block.get("mimeType")) or "image/png", data=text(block.get("data")))
        elif isinstance(block.get("text"), str):
            yield Text(block["text"])
        else:
            yield from telling.parts(block)


def _reply(message: Record, origin: Origin, telling: Telling) -> Iterator[Item]:
    api = text(message.get("api"))
    for block in map(fields, listed(message.get("content"))):
        match text(block.get("type")):
            case "thinking":
                residue = _residue(api, text(block.get("thinkingSignature")), origin)
                yield Thinking(text(block.get("thinking")), residue)
            case "toolCall":
                id, name = text(block.get("id")), text(block.get("name"))
                residue = _residue(api, text(block.get("thoughtSignature")), origin)
                yield HeardCall(id, name, block.get("arguments"), residue)
            case _:
                yield from _content([block], telling)


def _residue(api: str, signature: str, origin: Origin) -> Residue | None:
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
    return Residue(origin, {"item": item}) if fields(item).get("type") == "reasoning" else None
