"""Blocks of Converse: text, media, documents, results, reasoning.

A block is an object with one key, which names its kind. Media is sent as base64, or as a place in S3
where the model reads from there: Converse opens no links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...model import Media, Opaque, Text, Thinking, ToolResponse, block_text
from ..shared.content import (
    is_blank,
    is_failed,
    note_once,
    response_media,
    response_parts,
    response_text,
)
from ..shared.growing_bytes import Wire
from ..shared.residues import fields_of, is_base64
from .dialect import ConverseDialect

IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
VIDEOS = {
    "video/x-matroska": "mkv",
    "video/quicktime": "mov",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
AUDIO = {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/opus": "opus",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/aac": "aac",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/ogg": "ogg",
    "audio/webm": "webm",
}
KINDS = (("image", IMAGES), ("document", DOCUMENTS), ("video", VIDEOS), ("audio", AUDIO))

S3 = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?")
LONGEST_NAME = 200
# What Converse refuses in the name of a document. It documents no underscores; recorded names have them.
UNFIT = re.compile(r"[^a-zA-Z0-9\s\-()\[\]_]+")
SPACES = re.compile(r"\s+")
IN_RESULTS = ("searchResult",)
REPLAYED = ("toolUse", "toolResult", "searchResult", "guardContent", "document", "image")
"""Blocks that are kept whole and go back to the model or the API that they were written for."""


class DocumentNames:
    """The names of the documents of a request: Converse wants each to have one, and no two the same."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self._taken = list(taken)

    def branch(self) -> DocumentNames:
        return DocumentNames(self._taken)

    def choose(self, wanted: str) -> str:
        stem, dot, ending = wanted.rpartition(".")
        bare = stem if dot and stem and len(ending) <= 5 else wanted
        base = SPACES.sub(" ", UNFIT.sub("-", bare)).strip()[: LONGEST_NAME - 8] or "Document"
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base} {number}"
        self._taken.append(name)
        return name


def text_block(text: str) -> Wire:
    return {"text": text}


def media_block(media: Media, names: DocumentNames, changes: list[str]) -> Wire:
    """The medium as a block; what Converse has no block for is sent in words."""
    for kind, formats in KINDS:
        source = _source(media)
        if media.mime not in formats or source is None:
            continue
        if kind != "document":
            return {kind: {"format": formats[media.mime], "source": source}}
        return {"document": _document(media, formats[media.mime], source, names, changes)}
    if media.mime.startswith("text/") and media.data:
        return {"document": _document(media, "txt", {"bytes": media.data}, names, changes)}
    note_once(changes, f"{block_text(media)} sent as text: Converse has no block for it")
    return text_block(block_text(media))


def _source(media: Media) -> Wire | None:
    if media.data:
        return {"bytes": media.data}
    if S3.fullmatch(media.uri):
        owner = fields_of(media.residue).get("bucketOwner")
        return {"s3Location": {"uri": media.uri, **({"bucketOwner": owner} if owner else {})}}
    return None


def _document(media: Media, format: str, source: Wire, names: DocumentNames, changes: list[str]) -> Wire:
    name = names.choose(media.name)
    if media.name and name != media.name:
        note_once(changes, f"document {media.name} sent as {name}: Converse takes few characters in names")
    document: Wire = {"format": format, "name": name, "source": source}
    beside = fields_of(media.residue).get("document")
    return {**document, **beside} if isinstance(beside, dict) else document


def native_block(block: Any) -> Wire | None:
    """The block of this API that a text or an opaque block was; None for all others."""
    wire = fields_of(block.residue).get("block") if isinstance(block, Text | Opaque) else None
    if isinstance(wire, dict) and len(wire) == 1 and next(iter(wire)) in REPLAYED:
        return wire if isinstance(next(iter(wire.values())), dict) else None
    return None


def cited_text(block: Text, changes: list[str]) -> Wire:
    """A text with its sources, as the model wrote them."""
    citations = fields_of(block.residue).get("citations")
    if not isinstance(citations, list) or not all(isinstance(item, dict) for item in citations):
        return text_block(block.text)
    return {"citationsContent": {"content": [{"text": block.text}], "citations": citations}}


def thinking_block(block: Thinking, dialect: ConverseDialect, model: str, changes: list[str]) -> Wire | None:
    """A thought as it goes back; None where the model does not take it."""
    data = fields_of(block.residue)
    if not dialect.returns_thinking:
        note_once(changes, f"thinking left out: {model} does not take its reasoning back")
        return None
    if is_base64(data.get("redacted")):
        return {"reasoningContent": {"redactedContent": data["redacted"]}}
    if is_base64(data.get("signature")):
        return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": data["signature"]}}}
    if dialect.returns_thinking == "any" and not is_blank(block.text):
        return {"reasoningContent": {"reasoningText": {"text": block.text}}}
    changes.append("BDK-06 a thought left out: it has no valid signature")
    return None


def result_block(
    response: ToolResponse, call_id: str, dialect: ConverseDialect, names: DocumentNames, changes: list[str]
) -> Wire:
    """The result of a call. BDK-04: its content is never empty."""
    failed = is_failed(response)
    marks_text = failed and not dialect.marks_failed_results
    kept = [(part, wire) for part in response_parts(response) if (wire := _in_result(part)) is not None]
    text = response_text(response, marks_errors=marks_text, without=[part for part, _ in kept])
    alone = kept and len(kept) == len(response.outcome.content)
    content = [*([] if alone else [text_block(text)]), *(wire for _, wire in kept)]
    if dialect.media_in_results and not failed:
        content += [media_block(media, names, changes) for media in response_media(response)]
    result: Wire = {"toolUseId": call_id, "content": content}
    if dialect.marks_failed_results:
        result["status"] = "error" if failed else "success"
    return {"toolResult": result}


def _in_result(part: Any) -> Wire | None:
    """A block of this API that stands in a result as it is."""
    wire = native_block(part)
    return wire if wire is not None and next(iter(wire)) in IN_RESULTS else None
