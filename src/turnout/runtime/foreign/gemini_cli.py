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
from ...model import Origin, Outcome, Status, Text, Thinking
from ...plain import loads
from .telling import Foreign, Telling, fields, listed, records, text

STATUSES: dict[str, Status] = {"success": "complete", "error": "error", "cancelled": "cancelled"}

Record = dict[str, Any]


def read(data: bytes, key: str) -> Foreign:
    """The session that a chat file holds."""
    telling = Telling("gemini-cli", Origin("gemini"))
    document = _document(data)
    if isinstance(document, list):
        for content in document:
            telling.message(GEMINI, fields(content))
        return telling.finished(key)
    chat = document if document is not None else _replayed(data, telling)
    telling.id, telling.title = text(chat.get("sessionId")), text(chat.get("summary"))
    for message in listed(chat.get("messages")):
        _tell(fields(message), telling)
    return telling.finished(key)


def _document(data: bytes) -> Any:
    """The one JSON value that the file is: a chat, or the contents of a checkpoint. None for a log."""
    try:
        value = loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and isinstance(value.get("history"), list):
        return value["history"]
    if isinstance(value, list) and any("parts" in fields(content) for content in value):
        return value
    if isinstance(fields(value).get("messages"), list):
        return value
    if isinstance(value, dict) and ("sessionId" in value or "type" in value):
        return None  # a log of one line
    raise UsageError("this JSON is neither a chat nor a checkpoint of Gemini CLI")


def _replayed(data: bytes, telling: Telling) -> Record:
    chat: Record = {}
    messages: dict[str, Record] = {}
    for record in records(data, telling):
        if isinstance(target := record.get("$rewindTo"), str):
            ids = list(messages)
            cut = ids.index(target) if target in messages else 0
            for id in ids[cut:]:
                del messages[id]
        elif isinstance(update := record.get("$set"), dict):
            if isinstance(update.get("messages"), list):
                messages = {text(fields(item).get("id")): fields(item) for item in update["messages"]}
            chat |= {name: value for name, value in update.items() if name != "messages"}
        elif isinstance(record.get("id"), str):
            messages[record["id"]] = record
        elif isinstance(record.get("sessionId"), str):
            chat |= record
        else:
            telling.keep("record", record)
    return {**chat, "messages": list(messages.values())}


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
    id, name = text(call.get("id")), text(call.get("name"))
    answered = [item for item in telling.parts(call.get("result")) if isinstance(item, HeardResult)]
    if answered:
        return [HeardResult(id, name, _as(answered[0].outcome, text(call.get("status"))))]
    if text(call.get("status")) not in STATUSES:
        return []  # it had not ended
    shown = call.get("resultDisplay")
    return [HeardResult(id, name, Outcome(STATUSES[text(call.get("status"))], shown if shown else ()))]


def _as(outcome: Outcome, status: str) -> Outcome:
    known = STATUSES.get(status, outcome.status)
    return Outcome(known if outcome.status == "complete" else outcome.status, outcome.content)
