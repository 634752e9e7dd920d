"""Gemini CLI: a recorded chat (one JSON document, or a log of JSON lines) or a saved checkpoint.

In the log a message that is written again replaces the one of its id, `$set` may replace all
messages, and `$rewindTo` drops a message and what followed. A reply carries its calls with
their results inside. A checkpoint is a plain list of Gemini contents.
"""

from __future__ import annotations

from typing import Any

from ...errors import UsageError
from ...history.ingest.formats import GEMINI
from ...history.ingest.message_parts import HeardCall, HeardResult, Item
from ...history.ingest.parts import contents_of
from ...model import Origin, Outcome, Status, Text, Thinking
from ...plain import dict_in, list_in, loads, text_in
from .document import read_document
from .foreign_transcript import ForeignSession, TranscriptBuilder
from .lines import TORN, UNREADABLE, Record, records_of_lines

STATUSES: dict[str, Status] = {"success": "complete", "error": "error", "cancelled": "cancelled"}


def read_gemini_cli(data: bytes, key: str) -> ForeignSession:
    """The session that a chat file holds."""
    builder = TranscriptBuilder("gemini-cli", Origin("gemini"))
    value, found = _json_value(data), records_of_lines(data)
    if (contents := _checkpoint_contents(value)) is not None:
        for content in contents:
            builder.add_message(GEMINI, dict_in(content))
        return builder.build_session(key)
    if not _is_log(found) and (document := read_document(data, _is_message)) is not None:
        chat, messages = document.head, document.messages
    elif value is None or _is_log(found):
        chat, messages = _replay_log(found, builder)
    else:
        raise UsageError(
            "this JSON is neither a chat nor a checkpoint of Gemini CLI; give one that it recorded or saved"
        )
    builder.id, builder.title = text_in(chat.get("sessionId")), text_in(chat.get("summary"))
    for message in messages:
        _add_message(message, builder)
    return builder.build_session(key)


def _json_value(data: bytes) -> Any:
    """The one JSON value that the file is; None for a log, and for a document that is damaged."""
    try:
        return loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None


def _checkpoint_contents(value: Any) -> list[Any] | None:
    """The contents of a saved checkpoint: bare, or under `history`. None where the file is not one."""
    contents = value.get("history") if isinstance(value, dict) else value
    if not isinstance(contents, list) or not any("parts" in dict_in(content) for content in contents):
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


def _replay_log(found: list[Record], builder: TranscriptBuilder) -> tuple[Record, list[Record]]:
    """The fields and messages at the end of a log. Messages that it takes back are kept as notes."""
    chat: Record = {}
    messages: dict[str, Record] = {}
    for record in found:
        if isinstance(target := record.get("$rewindTo"), str):
            _rewind_to(messages, target, builder)
            continue
        update = dict_in(record.get("$set")) or record
        if isinstance(update.get("messages"), list):
            _replace_messages(messages, update["messages"], builder)
        if isinstance(record.get("id"), str):
            messages[record["id"]] = record
        elif update is not record or isinstance(record.get("sessionId"), str):
            chat |= {name: value for name, value in update.items() if name != "messages"}
        else:
            builder.keep_record(text_in(record.get("type")) or "record", record)
    return chat, list(messages.values())


def _rewind_to(messages: dict[str, Record], target: str, builder: TranscriptBuilder) -> None:
    """Drop a message and what followed it. Nothing is dropped where its line was lost."""
    if target not in messages:
        builder.context.report(
            "missing_record", f"{target}: the session was rewound to this message; nothing was removed"
        )
        return
    ids = list(messages)
    for id in ids[ids.index(target) :]:
        builder.keep_record("rewound message", messages.pop(id))


def _replace_messages(messages: dict[str, Record], others: list[Any], builder: TranscriptBuilder) -> None:
    """Put others in the place of all messages, as a compression does."""
    fresh = {
        text_in(other.get("id")) or f"unnamed {at}": other for at, other in enumerate(map(dict_in, others))
    }
    for id in [id for id in messages if id not in fresh]:
        builder.keep_record("replaced message", messages[id])
    messages.clear()
    messages.update(fresh)


# Messages


def _add_message(message: Record, builder: TranscriptBuilder) -> None:
    match text_in(message.get("type")):
        case "user":
            builder.add_items("user", *builder.read_parts(message.get("content")))
        case "gemini":
            _add_reply(message, builder)
        case kind:
            builder.keep_record(kind or "message", message)


def _add_reply(message: Record, builder: TranscriptBuilder) -> None:
    origin = Origin("gemini", "", text_in(message.get("model")))
    calls = [dict_in(call) for call in list_in(message.get("toolCalls"))]
    thoughts = [dict_in(thought) for thought in list_in(message.get("thoughts"))]
    items: list[Item] = [
        Thinking(f"{text_in(thought.get('subject'))}\n{text_in(thought.get('description'))}".strip())
        for thought in thoughts
    ]
    items += [item for item in builder.read_parts(message.get("content"), origin) if item != Text("")]
    items += [
        HeardCall(text_in(call.get("id")), text_in(call.get("name")), call.get("args")) for call in calls
    ]
    builder.add_items("model", *items, origin=origin)
    for call in calls:
        builder.add_items("tool", *_results_of(call, builder))


def _results_of(call: Record, builder: TranscriptBuilder) -> list[Item]:
    """The result of a call: the response it was answered with, or what the user was shown."""
    id, name, status = text_in(call.get("id")), text_in(call.get("name")), text_in(call.get("status"))
    items = builder.read_parts(call.get("result"))
    answers = [item.outcome for item in items if isinstance(item, HeardResult)]
    beside = contents_of(item for item in items if not isinstance(item, HeardResult))
    if answers or beside:
        content = (*(block for answer in answers for block in answer.content), *beside)
        failed = next((answer.status for answer in answers if answer.status != "complete"), None)
        return [HeardResult(id, name, Outcome(failed or STATUSES.get(status, "complete"), content))]
    shown = call.get("resultDisplay") or ()
    if status not in STATUSES and not shown:
        return []  # the call was still running
    return [HeardResult(id, name, Outcome(STATUSES.get(status, "interrupted"), shown))]
