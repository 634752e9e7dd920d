"""Converse messages: blocks without a `type`, each an object whose one key is its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Media, Opaque, Outcome, Text, Thinking
from ...plain import dumps
from ..opaque_text import words_of
from . import parts
from .message_parts import HeardCall, HeardResult, Item, ReadContext, dict_of, list_of, text_of, texts_in

MIMES: dict[str, dict[str, str]] = {
    "image": {},
    "document": {
        "pdf": "application/pdf",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "html": "text/html",
        "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mkv": "video/x-matroska",
        "mov": "video/quicktime",
        "flv": "video/x-flv",
        "mpg": "video/mpeg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    },
    "audio": {"mp3": "audio/mpeg", "m4a": "audio/mp4", "mpga": "audio/mpeg", "x-aac": "audio/aac"},
}
"""The type of a format, where it is not the kind and the format: `image/png`."""


def read_converse_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    kind = next(name for name in part if name in READERS)
    if not isinstance(part[kind], dict):
        yield from parts.keep_unknown(part, context)  # a part of another API with the same key
        return
    yield from READERS[kind](part[kind], part, context)


def _tool_use(call: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    if call.get("type") is not None:  # Bedrock ran it
        yield Opaque("toolUse", words_of("toolUse", call), context.residue(block=part))
        return
    parts.note_unknown_fields("toolUse", call, frozenset({"toolUseId", "name", "input"}), context)
    yield HeardCall(text_of(call.get("toolUseId")), text_of(call.get("name")), call.get("input"))


def _tool_result(result: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    if result.get("type") is not None:
        yield Opaque("toolResult", words_of("toolResult", result), context.residue(block=part))
        return
    parts.note_unknown_fields("toolResult", result, frozenset({"toolUseId", "content", "status"}), context)
    items = [item for inner in list_of(result.get("content")) for item in _result_items(inner, context)]
    outcome = Outcome("error" if result.get("status") == "error" else "complete", parts.contents_of(items))
    yield HeardResult(text_of(result.get("toolUseId")), "", outcome)


def _result_items(inner: Any, context: ReadContext) -> Iterator[Item]:
    if isinstance(inner, dict) and "json" in inner:
        yield Text(dumps(inner["json"]))
    else:
        yield from parts.items_of(inner, context)


def _reasoning_content(held: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    if redacted := held.get("redactedContent"):
        yield Thinking("", context.residue(redacted=redacted))
        return
    shown = dict_of(held.get("reasoningText"))
    text, signature = text_of(shown.get("text")), shown.get("signature") or None
    if not text and signature is None:
        context.report("empty_block", "reasoningContent")
    yield Thinking(text, context.residue(signature=signature, unsigned=None if signature else True))


def _citations_content(held: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    text = "".join(text_of(dict_of(piece).get("text")) for piece in list_of(held.get("content")))
    yield Text(text, context.residue(citations=held.get("citations") or None))


def _guard_content(held: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Content that a guardrail looks at: other models read it as what it is."""
    if isinstance(held.get("text"), dict):
        yield Text(text_of(held["text"].get("text")), context.scoped_residue("provider", block=part))
    else:
        yield from parts.items_of({"image": held.get("image")}, context)


def _search_result(held: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    said = [text_of(held.get("title")), text_of(held.get("source")), *texts_in(held.get("content"))]
    text = "\n".join(text for text in said if text)
    yield Opaque("searchResult", text, context.scoped_residue("provider", block=part))


def _cache_point(held: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Where the cache ends is said anew in every request."""
    yield from ()


def _media(kind: str, held: dict[str, Any], part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    source, name = dict_of(held.get("source")), text_of(held.get("name"))
    form = text_of(held.get("format")) or ("txt" if kind == "document" else "png")
    mime = MIMES[kind].get(form, f"{kind}/{form}")
    beside = {key: held[key] for key in ("context", "citations") if held.get(key) is not None}
    if place := text_of(dict_of(source.get("s3Location")).get("uri")):
        owner = dict_of(source["s3Location"]).get("bucketOwner")
        marks = context.scoped_residue("provider", bucketOwner=owner, document=beside or None)
        yield Media(mime, uri=place, name=name, residue=marks)
    elif data := text_of(source.get("bytes")):
        yield Media(
            mime, data, name=name, residue=context.scoped_residue("provider", document=beside or None)
        )
    elif texts := [*texts_in(source.get("text")), *texts_in(source.get("content"))]:
        # Every provider reads text, so it becomes text; its own provider gets the document back.
        head = [name, text_of(held.get("context"))]
        joined = "\n\n".join(text for text in (*head, *texts) if text)
        yield Text(joined, context.scoped_residue("provider", block=part))
    else:
        yield from parts.keep_unknown(part, context)


def _reader_of_media(kind: str) -> Any:
    return lambda held, part, context: _media(kind, held, part, context)


READERS: dict[str, Any] = {
    "toolUse": _tool_use,
    "toolResult": _tool_result,
    "reasoningContent": _reasoning_content,
    "citationsContent": _citations_content,
    "guardContent": _guard_content,
    "searchResult": _search_result,
    "cachePoint": _cache_point,
    **{kind: _reader_of_media(kind) for kind in MIMES},
}

parts.KEYED |= dict.fromkeys(READERS, read_converse_part)


# The body around the messages


def declarations(config: Any) -> Iterator[dict[str, Any]]:
    """The tools of `toolConfig` in the form that all APIs share; cache points among them are not tools."""
    for tool in list_of(dict_of(config).get("tools")):
        spec = dict_of(tool).get("toolSpec")
        if isinstance(spec, dict):
            schema = dict_of(spec.get("inputSchema")).get("json")
            yield {**spec, "inputSchema": {} if schema is None else schema}
        elif not isinstance(tool, dict) or "cachePoint" not in tool:
            yield tool
