"""opencode: what `opencode export` prints, a session with its messages and their parts.

A part of type `tool` is a call and its state in one. One message may hold several steps, each a
reply of its own. A user message with a compaction part is answered by the summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import UsageError
from ...history.ingest.heard import HeardCall, HeardResult, Item
from ...history.ingest.icontent import reasoning_item
from ...history.ingest.media import from_url
from ...model import Content, Origin, Outcome, Residue, Text, Thinking
from .document import read_document
from .lines import Record
from .telling import Foreign, Telling, fields, listed, origin_of, text

HOW_TO_EXPORT = (
    "`opencode export SESSION > export.json` writes what can be read; "
    "`opencode session list` shows the sessions"
)

PASSED_OVER = frozenset({"step-start", "step-finish", "snapshot", "patch"})


def read(data: bytes, key: str) -> Foreign:
    """The session that an export holds."""
    if (export := read_document(data, _is_message)) is None:
        raise UsageError(f"this is not an export of opencode. {HOW_TO_EXPORT}")
    info = fields(export.head.get("info"))
    telling = Telling("opencode", Origin("unknown"))
    telling.id, telling.title = text(info.get("id")), text(info.get("title"))
    standing, reverted = _standing(export.messages, fields(info.get("revert")))
    for message in standing:
        _tell(message, telling)
    for message in reverted:
        telling.keep(text(message.get("type")) or "reverted", message)
    return telling.finished(key)


def _is_message(value: Record) -> bool:
    return isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def _standing(messages: list[Record], revert: Record) -> tuple[list[Record], list[Record]]:
    """The messages before the one that the user went back to, and those from there on."""
    target, part = text(revert.get("messageID")), text(revert.get("partID"))
    ids = [text(fields(message.get("info")).get("id")) for message in messages]
    if not target or target not in ids:
        return messages, []
    at = ids.index(target)
    parts = listed(messages[at].get("parts"))
    cut = next((place for place, each in enumerate(parts) if part and fields(each).get("id") == part), 0)
    if not cut:
        return messages[:at], messages[at:]
    kept, undone = ({**messages[at], "parts": half} for half in (parts[:cut], parts[cut:]))
    return [*messages[:at], kept], [undone, *messages[at + 1 :]]


def _tell(message: Record, telling: Telling) -> None:
    info, parts = fields(message.get("info")), [fields(part) for part in listed(message.get("parts"))]
    if info.get("role") == "user":
        telling.say("user", *_prompt_items(parts, telling))
    elif info.get("role") == "assistant" and info.get("summary") is True:
        telling.compacted("\n".join(text(part.get("text")) for part in parts if part.get("type") == "text"))
        _keep_parts([part for part in parts if part.get("type") != "text"], telling)
    elif info.get("role") == "assistant":
        for step in _steps(parts):
            _reply(step, _origin(info), telling)
    else:
        telling.keep(text(info.get("role")) or text(message.get("type")) or "message", message)
    if info.get("error"):
        telling.keep("error", info["error"])


def _origin(info: Record) -> Origin:
    model = fields(info.get("model"))
    return origin_of(
        info.get("providerID") or model.get("providerID"), info.get("modelID") or model.get("modelID")
    )


def _steps(parts: list[Record]) -> Iterator[list[Record]]:
    step: list[Record] = []
    for part in parts:
        if part.get("type") == "step-start" and step:
            yield step
            step = []
        step.append(part)
    yield step


def _keep_parts(parts: list[Record], telling: Telling) -> None:
    for part in parts:
        kind = text(part.get("type")) or "part"
        if kind in PASSED_OVER:
            telling.pass_over(kind)
        else:
            telling.keep(kind, part)


# Prompts


def _prompt_items(parts: list[Record], telling: Telling) -> Iterator[Item]:
    for part in parts:
        match text(part.get("type")):
            case "text":
                yield Text(text(part.get("text")))
            case "file":
                yield _file(part)
            case _:
                _keep_parts([part], telling)


def _file(part: Record) -> Content:
    mime = text(part.get("mime")) or "application/octet-stream"
    return from_url(text(part.get("url")), mime, text(part.get("filename")))


# Replies


def _reply(step: list[Record], origin: Origin, telling: Telling) -> None:
    items: list[Item] = []
    results: list[Item] = []
    for part in step:
        match text(part.get("type")):
            case "text":
                items.append(Text(text(part.get("text"))))
            case "reasoning":
                items.append(Thinking(text(part.get("text")), _thinking_residue(part, origin)))
            case "file":
                items.append(_file(part))
            case "tool":
                state = fields(part.get("state"))
                id, name = text(part.get("callID")), text(part.get("tool"))
                items.append(HeardCall(id, name, state.get("input") or {}, _call_residue(part, origin)))
                results += [HeardResult(id, name, outcome) for outcome in _outcome(state)]
            case _:
                _keep_parts([part], telling)
    telling.say("model", *items, origin=origin)
    telling.say("tool", *results)


def _thinking_residue(part: Record, origin: Origin) -> Residue | None:
    """The private state that the AI SDK keeps beside a thought, in the shape of whoever wrote it."""
    written = fields(part.get("metadata"))
    claude, gemini, openai = (fields(written.get(name)) for name in ("anthropic", "google", "openai"))
    data: Any = None
    if claude.get("redactedData"):
        data = {"redacted": claude["redactedData"]}
    elif claude.get("signature"):
        data = {"signature": claude["signature"]}
    elif gemini.get("thoughtSignature"):
        data = {"thought_signature": gemini["thoughtSignature"]}
    elif encrypted := openai.get("reasoningEncryptedContent"):
        data = {"item": reasoning_item(text(part.get("text")), openai.get("itemId"), encrypted)}
    return None if data is None else Residue(origin, data)


def _call_residue(part: Record, origin: Origin) -> Residue | None:
    signature = fields(fields(part.get("metadata")).get("google")).get("thoughtSignature")
    return Residue(origin, {"thought_signature": signature}) if signature else None


def _outcome(state: Record) -> Iterator[Outcome]:
    """What came of a call; nothing while it runs."""
    shown = tuple(_file(fields(part)) for part in listed(state.get("attachments")))
    said = tuple(Text(words) for name in ("output", "error") if (words := text(state.get(name))))
    if state.get("status") == "error" or state.get("error"):
        yield Outcome("error", (*said, *shown))
    elif state.get("status") == "completed" or said or shown:
        yield Outcome("complete", (*said, *shown))
