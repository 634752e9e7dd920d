"""opencode: what `opencode export` prints, a session with its messages and their parts.

A part of type `tool` is a call and its state in one. One message may hold several steps, each a
separate reply. A user message with a compaction part is answered by the summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import UsageError
from ...history.ingest.icontent import reasoning_item
from ...history.ingest.media import from_url
from ...history.ingest.message_parts import HeardCall, HeardResult, Item
from ...model import Content, Origin, Outcome, Residue, Text, Thinking
from ...plain import dict_in, list_in, text_in
from .document import read_document
from .foreign_transcript import ForeignSession, TranscriptBuilder, origin_of
from .lines import Record

HOW_TO_EXPORT = (
    "`opencode export SESSION > export.json` and read that file; `opencode session list` shows the sessions"
)

PASSED_OVER = frozenset({"step-start", "step-finish", "snapshot", "patch"})


def read_opencode(data: bytes, key: str) -> ForeignSession:
    """The session that an export holds."""
    if (export := read_document(data, _is_message)) is None:
        raise UsageError(f"this is not an export of opencode; use {HOW_TO_EXPORT}")
    info = dict_in(export.head.get("info"))
    builder = TranscriptBuilder("opencode", Origin("unknown"))
    builder.id, builder.title = text_in(info.get("id")), text_in(info.get("title"))
    standing, reverted = _split_at_revert(export.messages, dict_in(info.get("revert")))
    for message in standing:
        _add_message(message, builder)
    for message in reverted:
        builder.keep_record(text_in(message.get("type")) or "reverted", message)
    return builder.build_session(key)


def _is_message(value: Record) -> bool:
    return isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def _split_at_revert(messages: list[Record], revert: Record) -> tuple[list[Record], list[Record]]:
    """The messages before the one that the user reverted to, and the rest."""
    target, part = text_in(revert.get("messageID")), text_in(revert.get("partID"))
    ids = [text_in(dict_in(message.get("info")).get("id")) for message in messages]
    if not target or target not in ids:
        return messages, []
    at = ids.index(target)
    parts = list_in(messages[at].get("parts"))
    cut = next((place for place, each in enumerate(parts) if part and dict_in(each).get("id") == part), 0)
    if not cut:
        return messages[:at], messages[at:]
    kept, undone = ({**messages[at], "parts": half} for half in (parts[:cut], parts[cut:]))
    return [*messages[:at], kept], [undone, *messages[at + 1 :]]


def _add_message(message: Record, builder: TranscriptBuilder) -> None:
    info, parts = dict_in(message.get("info")), [dict_in(part) for part in list_in(message.get("parts"))]
    if info.get("role") == "user":
        builder.add_items("user", *_prompt_items(parts, builder))
    elif info.get("role") == "assistant" and info.get("summary") is True:
        builder.add_compaction(
            "\n".join(text_in(part.get("text")) for part in parts if part.get("type") == "text")
        )
        _keep_parts([part for part in parts if part.get("type") != "text"], builder)
    elif info.get("role") == "assistant":
        for step in _steps_in(parts):
            _add_reply(step, _origin_of_message(info), builder)
    else:
        builder.keep_record(text_in(info.get("role")) or text_in(message.get("type")) or "message", message)
    if info.get("error"):
        builder.keep_record("error", info["error"])


def _origin_of_message(info: Record) -> Origin:
    model = dict_in(info.get("model"))
    return origin_of(
        info.get("providerID") or model.get("providerID"), info.get("modelID") or model.get("modelID")
    )


def _steps_in(parts: list[Record]) -> Iterator[list[Record]]:
    step: list[Record] = []
    for part in parts:
        if part.get("type") == "step-start" and step:
            yield step
            step = []
        step.append(part)
    yield step


def _keep_parts(parts: list[Record], builder: TranscriptBuilder) -> None:
    for part in parts:
        kind = text_in(part.get("type")) or "part"
        if kind in PASSED_OVER:
            builder.skip_record(kind)
        else:
            builder.keep_record(kind, part)


# Prompts


def _prompt_items(parts: list[Record], builder: TranscriptBuilder) -> Iterator[Item]:
    for part in parts:
        match text_in(part.get("type")):
            case "text":
                yield Text(text_in(part.get("text")))
            case "file":
                yield _media_of_part(part)
            case _:
                _keep_parts([part], builder)


def _media_of_part(part: Record) -> Content:
    mime = text_in(part.get("mime")) or "application/octet-stream"
    return from_url(text_in(part.get("url")), mime, text_in(part.get("filename")))


# Replies


def _add_reply(step: list[Record], origin: Origin, builder: TranscriptBuilder) -> None:
    items: list[Item] = []
    results: list[Item] = []
    for part in step:
        match text_in(part.get("type")):
            case "text":
                items.append(Text(text_in(part.get("text"))))
            case "reasoning":
                items.append(Thinking(text_in(part.get("text")), _thinking_residue(part, origin)))
            case "file":
                items.append(_media_of_part(part))
            case "tool":
                state = dict_in(part.get("state"))
                id, name = text_in(part.get("callID")), text_in(part.get("tool"))
                items.append(HeardCall(id, name, state.get("input") or {}, _call_residue(part, origin)))
                results += [HeardResult(id, name, outcome) for outcome in _outcomes_of(state)]
            case _:
                _keep_parts([part], builder)
    builder.add_items("model", *items, origin=origin)
    builder.add_items("tool", *results)


def _thinking_residue(part: Record, origin: Origin) -> Residue | None:
    """The private state that the AI SDK keeps beside a thought, in the shape of its provider."""
    written = dict_in(part.get("metadata"))
    claude, gemini, openai = (dict_in(written.get(name)) for name in ("anthropic", "google", "openai"))
    data: Any = None
    if claude.get("redactedData"):
        data = {"redacted": claude["redactedData"]}
    elif claude.get("signature"):
        data = {"signature": claude["signature"]}
    elif gemini.get("thoughtSignature"):
        data = {"thought_signature": gemini["thoughtSignature"]}
    elif encrypted := openai.get("reasoningEncryptedContent"):
        data = {"item": reasoning_item(text_in(part.get("text")), openai.get("itemId"), encrypted)}
    return None if data is None else Residue(origin, data)


def _call_residue(part: Record, origin: Origin) -> Residue | None:
    signature = dict_in(dict_in(part.get("metadata")).get("google")).get("thoughtSignature")
    return Residue(origin, {"thought_signature": signature}) if signature else None


def _outcomes_of(state: Record) -> Iterator[Outcome]:
    """The outcome of a call; none while it runs."""
    shown = tuple(_media_of_part(dict_in(part)) for part in list_in(state.get("attachments")))
    said = tuple(Text(words) for name in ("output", "error") if (words := text_in(state.get(name))))
    if state.get("status") == "error" or state.get("error"):
        yield Outcome("error", (*said, *shown))
    elif state.get("status") == "completed" or said or shown:
        yield Outcome("complete", (*said, *shown))
