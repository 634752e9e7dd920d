"""Gemini CLI: a recorded chat (one JSON document, or a log of JSON lines) or a saved checkpoint.

In the log a message that is written again replaces the one of its id, `$set` may replace all
messages, and `$rewindTo` drops a message and what followed. A reply carries its calls with
their results inside. A checkpoint is a plain list of Gemini contents.
"""

from __future__ import annotations

from typing import Any

from ...errors import UsageError
from ...history.ingest.formats import GEMINI
from ...history.ingest.heard import HeardCall, HeardResult, Item
from ...history.ingest.parts import said
from ...model import Origin, Outcome, Status, Text, Thinking
from ...plain import loads
from .document import read_document
from .lines import TORN, UNREADABLE, Record, records
from .telling import Foreign, Telling, fields, listed, text

STATUSES: dict[str, Status] = {"success": "complete", "error": "error", "cancelled": "cancelled"}


def read(data: bytes, key: str) -> Foreign:
    """The session that a chat file holds."""
    telling = Telling("gemini-cli", Origin("gemini"))
    value, found = _json_value(data), records(data)
    if (contents := _checkpoint(value)) is not None:
        for content in contents:
            telling.message(GEMINI, fields(content))
        return telling.finished(key)
    if not _is_log(found) and (document := read_document(data, _is_message)) is not None:
        chat, messages = document.head, document.messages
    elif value is None or _is_log(found):
        chat, messages = _replayed(found, telling)
    else:
        raise UsageError("this JSON is neither a chat nor a checkpoint of Gemini CLI")
    telling.id, telling.title = text(chat.get("sessionId")), text(chat.get("summary"))
    for message in messages:
        _tell(message, telling)
    return telling.finished(key)


def _json_value(data: bytes) -> Any:
    """The one JSON value that the file is; None for a log, and for a document that is damaged."""
    try:
        return loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None


def _checkpoint(value: Any) -> list[Any] | None:
    """The contents of a saved checkpoint: bare, or as a `history`. None where the file is another."""
    contents = value.get("history") if isinstance(value, dict) else value
    if not isinstance(contents, list) or not any("parts" in fields(content) for content in contents):
        return None
    return contents


def _is_log(found: list[Record]) -> bool:
    """Whether this is a file of lines: at least half of them are records by themselves."""
    whole = [each for each in found if each.get("type") not in (TORN, UNREADABLE)]
    is_chat = len(found) == len(whole) == 1 and isinstance(whole[0].get("messages"), list)
    return 2 * len(whole) >= len(found) and not is_chat


def _is_message(value: Record) -> bool:
    return isinstance(value.get("id"), str) and isinstance(value.get("type"), str) and "content" in value


# A log


def _replayed(found: list[Record], telling: Telling) -> tuple[Record, list[Record]]:
    """The fields and the messages that a log comes to. What it takes back is kept aside."""
    chat: Record = {}
    messages: dict[str, Record] = {}
    for record in found:
        if isinstance(target := record.get("$rewindTo"), str):
            _rewind(messages, target, telling)
            continue
        update = fields(record.get("$set")) or record
        if isinstance(update.get("messages"), list):
            _replace(messages, update["messages"], telling)
        if isinstance(record.get("id"), str):
            messages[record["id"]] = record
        elif update is not record or isinstance(record.get("sessionId"), str):
            chat |= {name: value for name, value in update.items() if name != "messages"}
        else:
            telling.keep(text(record.get("type")) or "record", record)
    return chat, list(messages.values())


def _rewind(messages: dict[str, Record], target: str, telling: Telling) -> None:
    """Drop a message and what followed it. Where its line was lost, nobody knows how far: nothing goes."""
    if target not in messages:
        telling.door.found(
            "missing_record", f"{target}: the message that was rewound to; nothing is left out"
        )
        return
    ids = list(messages)
    for id in ids[ids.index(target) :]:
        telling.keep("rewound message", messages.pop(id))


def _replace(messages: dict[str, Record], others: list[Any], telling: Telling) -> None:
    """Put others in the place of all messages, as a compression does."""
    fresh = {text(other.get("id")) or f"unnamed {at}": other for at, other in enumerate(map(fields, others))}
    for id in [id for id in messages if id not in fresh]:
        telling.keep("replaced message", messages[id])
    messages.clear()
    messages.update(fresh)


# Messages


def _tell(message: Record, telling: Telling) -> None:
    match text(message.get("type")):
        case "user":
            telling.say("user", *telling.parts(message.get("content")))
        case "gemini":
            _reply(message, telling)
        case kind:
            telling.keep(kind or "message", message)


def _reply(message: Record, telling: Telling) -> None:
    origin = Origin("gemini", "", text(message.get("model")))
    calls = [fields(call) for call in listed(message.get("toolCalls"))]
    thoughts = [fields(thought) for thought in listed(message.get("thoughts"))]
    items: list[Item] = [
        Thinking(f"{text(thought.get('subject'))}\n{text(thought.get('description'))}".strip())
        for thought in thoughts
    ]
    items += [item for item in telling.parts(message.get("content"), origin) if item != Text("")]
    items += [HeardCall(text(call.get("id")), text(call.get("name")), call.get("args")) for call in calls]
    telling.say("model", *items, origin=origin)
    for call in calls:
        telling.say("tool", *_results(call, telling))


def _results(call: Record, telling: Telling) -> list[Item]:
    """What came of a call: the response it was answered with, or what the user was shown."""
    id, name, status = text(call.get("id")), text(call.get("name")), text(call.get("status"))
    items = telling.parts(call.get("result"))
    answers = [item.outcome for item in items if isinstance(item, HeardResult)]
    beside = said(item for item in items if not isinstance(item, HeardResult))
    if answers or beside:
        content = (*(block for answer in answers for block in answer.content), *beside)
        failed = next((answer.status for answer in answers if answer.status != "complete"), None)
        return [HeardResult(id, name, Outcome(failed or STATUSES.get(status, "complete"), content))]
    shown = call.get("resultDisplay") or ()
    if status not in STATUSES and not shown:
        return []  # it had not ended
    return [HeardResult(id, name, Outcome(STATUSES.get(status, "interrupted"), shown))]
