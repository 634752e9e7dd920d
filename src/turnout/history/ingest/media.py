"""Images, sound and files in the forms of all formats: data URLs, links, base64, file ids."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from ...model import UNKNOWN_KIND, Media, Opaque, Residue, Text
from ..opaque_text import words_of
from .message_parts import Item, ReadContext, dict_of, text_of

DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)

FIRST_BYTES = {
    "iVBOR": "image/png",
    "/9j/": "image/jpeg",
    "R0lG": "image/gif",
    "UklG": "image/webp",
    "JVBER": "application/pdf",
}
"""The first characters of the base64 of common types."""

ENDINGS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "txt": "text/plain",
}


def from_url(url: str, usual: str, name: str = "", residue: Residue | None = None) -> Media:
    """Media of a link or a data URL; `usual` is the mime type when nothing else names one."""
    if (head := DATA_URL.match(url)) is None:
        return Media(
            _mime_by_ending(url) or _mime_by_ending(name) or usual, uri=url, name=name, residue=residue
        )
    data = url[head.end() :]
    if "base64" not in head[2].lower():
        data = b64encode(unquote_to_bytes(data)).decode()
    return Media(head[1] or sniff_mime(data) or usual, data, name=name, residue=residue)


def from_base64(data: str, mime: str, usual: str, name: str = "", residue: Residue | None = None) -> Media:
    if data.startswith("data:"):
        return from_url(data, mime or usual, name, residue)
    return Media(mime or sniff_mime(data) or _mime_by_ending(name) or usual, data, name=name, residue=residue)


def sniff_mime(data: str) -> str:
    return next((mime for start, mime in FIRST_BYTES.items() if data.startswith(start)), "")


def held_file(kind: str, file_id: str, part: dict[str, Any], context: ReadContext) -> Opaque:
    """A file at the provider: only models of that account can read it."""
    marks = context.scoped_residue("account", file_id=file_id, **{context.unit: part})
    about = [text_of(part.get(name)) for name in ("title", "context")]  # of Anthropic's documents
    return Opaque(kind, "\n\n".join([f"[file {file_id}]", *filter(None, about)]), marks)


def _mime_by_ending(place: str) -> str:
    path = re.split(r"[?#]", place, maxsplit=1)[0]
    return ENDINGS.get(path.rpartition(".")[2].lower(), "") if "." in path else ""


# Chat


def image_url(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """`{"image_url": {"url", "detail"}}`, or a bare text, as in Mistral and Responses."""
    value = part.get("image_url")
    if value is None and part.get("file_id"):
        yield held_file("input_image", text_of(part["file_id"]), part, context)
        return
    detail = dict_of(value).get("detail") or part.get("detail")
    yield from_url(_url_of(value), "image/*", residue=context.scoped_residue("provider", detail=detail))


def video_url(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A part that some servers of Chat have (OpenRouter, Qwen, vLLM): it goes back to them as it is."""
    marks = context.scoped_residue("provider", part="video_url")
    yield from_url(_url_of(part.get("video_url")), "video/mp4", residue=marks)


def audio_url(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    marks = context.scoped_residue("provider", part="audio_url")
    yield from_url(_url_of(part.get("audio_url")), "audio/mpeg", residue=marks)


def document_url(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    yield from_url(_url_of(part.get("document_url")), "application/pdf", text_of(part.get("document_name")))


def input_audio(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    audio = part.get("input_audio")
    if isinstance(audio, str):  # Mistral: base64 or a link
        audio = {"data": audio}
    audio = dict_of(audio)
    data, form = text_of(audio.get("data")), text_of(audio.get("format")) or "wav"
    if data.startswith(("http://", "https://")):
        yield from_url(data, "audio/mpeg")
    else:
        yield from_base64(data, ENDINGS.get(form, f"audio/{form}"), "audio/wav")


def file_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A file of Chat (`{"file": {…}}`) or Responses (the same fields on the part itself)."""
    inner = dict_of(part.get("file")) or part
    name = text_of(inner.get("filename"))
    if inner.get("file_data"):
        found = from_base64(text_of(inner["file_data"]), "", "application/octet-stream", name)
        is_named = bool(name) and found.mime.startswith(("image/", "audio/", "video/"))
        yield replace(found, residue=context.scoped_residue("provider", named=True)) if is_named else found
    elif inner.get("file_url"):
        # The server finds the type: a link of this format needs none.
        found = from_url(text_of(inner["file_url"]), UNKNOWN_KIND, name)
        is_untyped = found.mime == UNKNOWN_KIND
        yield replace(found, residue=context.scoped_residue("provider", link=is_untyped or None))
    elif file_id := text_of(inner.get("file_id")):
        yield held_file("file", file_id, part, context)
    else:
        yield Opaque(
            "file", f"[file {name}: it was sent without content]" if name else "[a file without content]"
        )


def _url_of(value: Any) -> str:
    return text_of(value.get("url")) if isinstance(value, dict) else text_of(value)


# Anthropic


def media_of_source(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """An image or document with a `source`: base64, a link, plain text, blocks or a file id."""
    source, kind = dict_of(part.get("source")), text_of(part.get("type"))
    name = text_of(part.get("title"))
    usual = "image/*" if kind == "image" else "application/pdf"
    match source.get("type"):
        case "base64":
            data, mime = text_of(source.get("data")), text_of(source.get("media_type"))
            yield from_base64(data, mime, usual, name, _document_marks(part, context))
        case "url":
            yield from_url(text_of(source.get("url")), usual, name, _document_marks(part, context))
        case "text":
            # Every provider reads text, so it becomes text; its own provider gets the document back.
            head = [name, text_of(part.get("context"))]
            joined = "\n\n".join(text for text in (*head, text_of(source.get("data"))) if text)
            yield Text(joined, context.scoped_residue("provider", block=part))
        case _:
            yield from _other_source(part, context)


def _document_marks(part: dict[str, Any], context: ReadContext) -> Residue | None:
    """What a request to Anthropic says about a document beside its content."""
    names = ("title", "context", "citations")
    around = {name: part[name] for name in names if part.get(name) is not None}
    return context.scoped_residue("provider", document=around) if around.keys() - {"title"} else None


def _other_source(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    source, kind = dict_of(part.get("source")), text_of(part.get("type"))
    if "image_url" in part or "data" in part or "url" in part:  # an image in the form of another family
        value = part.get("image_url") or part.get("url") or part.get("data")
        url = _url_of(value)
        yield (
            from_url(url, "image/*")
            if ":" in url[:12]
            else from_base64(url, text_of(part.get("mimeType") or part.get("media_type")), "image/*")
        )
    elif source.get("file_id"):
        yield held_file(kind, text_of(source["file_id"]), part, context)
    else:
        yield Opaque(kind, words_of(kind, part), context.scoped_residue("provider", block=part))
