"""pi: JSON lines that form a tree by `id` and `parentId`; the last one is where the session stands.

The first versions wrote a plain sequence without ids. A compaction names the first entry that
was kept; what a branch left behind is a summary in the path.
"""

from __future__ import annotations

from typing import Any

from ...history.ingest.heard import HeardCall, HeardResult, Item
from ...model import Media, Origin, Outcome, Residue, Text, Thinking
from .telling import Foreign, Telling, fields, listed, origin_of, records, text

PASSED_OVER = frozenset({"model_change", "thinking_level_change", "label"})

Record = dict[str, Any]


def read(data: bytes, key: str) -> Foreign:
    """The session that a file holds."""
    telling = Telling("pi", Origin("unknown"))
    for entry in _path(list(records(data, telling)), telling):
        _tell(entry, telling)
    return telling.finished(key)


def _path(entries: list[Record], telling: Telling) -> list[Record]:
    """The entries from the root to the last one; all of them where they form no tree."""
    known = {entry["id"]: entry for entry in entries if _is_linked(entry)}
    linked = [entry for entry in entries if _is_linked(entry)]
    if not linked:
        return entries
    standing: set[str] = set()
    at: Any = linked[-1]["id"]
    while at in known and at not in standing:
        standing.add(at)
        at = known[at].get("parentId")
    if left := len(known) - len(standing):
        telling.keep("other branches", {"entries": left})
    return [entry for entry in entries if not _is_linked(entry) or entry["id"] in standing]


def _is_linked(entry: Record) -> bool:
    return entry.get("type") != "session" and isinstance(entry.get("id"), str)


def _tell(entry: Record, telling: Telling) -> None:
    match text(entry.get("type")):
        case "session":
            telling.id = text(entry.get("id"))
        case "session_info":
            telling.title = text(entry.get("name")) or telling.title
        case "message":
            _message(fields(entry.get("message")), text(entry.get("id")), telling)
        case "custom_message":
            telling.say("user", *_content(entry.get("content")))
        case "branch_summary":
            telling.say("user", Text(f"[Summary of a branch that was left]\n{text(entry.get('summary'))}"))
        case "compaction":
            telling.compacted(text(entry.get("summary")), text(entry.get("firstKeptEntryId")))
        case kind if kind not in PASSED_OVER:
            telling.keep(kind or "entry", entry)


def _message(message: Record, id: str, telling: Telling) -> None:
    match text(message.get("role")):
        case "user" | "custom" | "hookMessage":
            telling.say("user", *_content(message.get("content")), turn_id=id)
        case "assistant":
            origin = origin_of(message.get("provider"), message.get("model"))
            signed = message.get("api") == "anthropic-messages"
            telling.say("model", *_reply(message, origin if signed else None), origin=origin, turn_id=id)
        case "toolResult":
            status: Any = "error" if message.get("isError") is True else "complete"
            content = tuple(_content(message.get("content")))
            result = HeardResult(
                text(message.get("toolCallId")),
                text(message.get("toolName")),
                Outcome(status, content),
            )
            telling.say("tool", result)
        case "bashExecution" if message.get("excludeFromContext") is not True:
            ran = f"Ran `{text(message.get('command'))}`\n{text(message.get('output'))}"
            telling.say("user", Text(ran), turn_id=id)
        case role:
            telling.keep(role or "message", message)


def _content(content: Any) -> list[Item]:
    if isinstance(content, str):
        return [Text(content)]
    items: list[Item] = []
    for block in map(fields, listed(content)):
        if block.get("type") == "image":
            items.append(Media(text(block.get("mimeType")) or "image/png", data=text(block.get("data"))))
        elif text(block.get("text")):
            items.append(Text(text(block.get("text"))))
    return items


def _reply(message: Record, signer: Origin | None) -> list[Item]:
    items: list[Item] = []
    for block in map(fields, listed(message.get("content"))):
        match text(block.get("type")):
            case "thinking":
                signature = text(block.get("thinkingSignature"))
                residue = Residue(signer, {"signature": signature}) if signer and signature else None
                items.append(Thinking(text(block.get("thinking")), residue))
            case "toolCall":
                items.append(
                    HeardCall(text(block.get("id")), text(block.get("name")), block.get("arguments"))
                )
            case _:
                items += _content([block])
    return items
