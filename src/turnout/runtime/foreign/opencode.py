"""opencode: what `opencode export` prints, a session with its messages and their parts.

A part of type `tool` is a call and its state in one. One message may hold several steps, each a
reply of its own. A user message with a compaction part is answered by the summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import UsageError
from ...history.ingest.heard import HeardCall, HeardResult, Item
from ...model import Media, Origin, Outcome, Text, Thinking
from ...plain import loads
from .telling import Foreign, Telling, fields, listed, origin_of, text

PASSED_OVER = frozenset({"step-start", "step-finish", "snapshot", "patch"})

Record = dict[str, Any]


def read(data: bytes, key: str) -> Foreign:
    """The session that an export holds."""
    try:
        export = fields(loads(data[data.find(b"{") :]))  # the command may print a line before it
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is no export of opencode: {error}") from None
    info = fields(export.get("info"))
    telling = Telling("opencode", Origin("unknown"))
    telling.id, telling.title = text(info.get("id")), text(info.get("title"))
    for message in listed(export.get("messages")):
        _tell(fields(message), telling)
    return telling.finished(key)


def _tell(message: Record, telling: Telling) -> None:
    info, parts = fields(message.get("info")), [fields(part) for part in listed(message.get("parts"))]
    if info.get("role") == "user":
        telling.say("user", *_said(parts, telling))
    elif info.get("role") == "assistant" and info.get("summary") is True:
        telling.compacted("\n".join(text(part.get("text")) for part in parts if part.get("type") == "text"))
    elif info.get("role") == "assistant":
        for step in _steps(parts):
            _reply(step, _origin(info), telling)
    else:
        telling.keep(text(info.get("role")) or "message", message)


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


def _said(parts: list[Record], telling: Telling) -> Iterator[Item]:
    for part in parts:
        match text(part.get("type")):
            case "text":
                yield Text(text(part.get("text")))
            case "file":
                yield _file(part)
            case kind:
                telling.keep(kind or "part", part)


def _file(part: Record) -> Item:
    mime, url = text(part.get("mime")) or "application/octet-stream", text(part.get("url"))
    head, _, data = url.partition(";base64,")
    if head.startswith("data:") and data:
        return Media(mime, data=data, name=text(part.get("filename")))
    return Media(mime, uri=url, name=text(part.get("filename")))


def _reply(step: list[Record], origin: Origin, telling: Telling) -> None:
    items: list[Item] = []
    results: list[Item] = []
    for part in step:
        match text(part.get("type")):
            case "text":
                items.append(Text(text(part.get("text"))))
            case "reasoning":
                items.append(Thinking(text(part.get("text"))))
            case "tool":
                state = fields(part.get("state"))
                id, name = text(part.get("callID")), text(part.get("tool"))
                items.append(HeardCall(id, name, state.get("input") or {}))
                results += [HeardResult(id, name, outcome) for outcome in _outcome(state)]
            case kind if kind not in PASSED_OVER:
                telling.keep(kind or "part", part)
    telling.say("model", *items, origin=origin)
    telling.say("tool", *results)


def _outcome(state: Record) -> Iterator[Outcome]:
    match state.get("status"):
        case "completed":
            yield Outcome("complete", state.get("output") or ())
        case "error":
            yield Outcome("error", state.get("error") or ())
