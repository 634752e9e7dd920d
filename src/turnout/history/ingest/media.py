"""Images, sound and files, however a format writes them: data URLs, links, base64, file ids."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from ...model import UNKNOWN_KIND, Media, Opaque, Residue, Text
from ..words import words_of
from .heard import Door, Item, dict_of, text_of

DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)

FIRST_BYTES = {
    "iVBOR": "image/png",
    "/9j/": "image/jpeg",
    "R0lG": "image/gif",
    "UklG": "image/webp",
    "JVBER": "application/pdf",
}
"""How base64 of the common kinds begins."""

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
    """Media behind a link or inside a data URL; `usual` is the mime type when nothing says it."""
    if (head := DATA_URL.match(url)) is None:
        return Media(_by_ending(url) or _by_ending(name) or usual, uri=url, name=name, residue=residue)
    data = url[head.end() :]
    if "base64" not in head[2].lower():
        data = b64encode(unquote_to_bytes(data)).decode()
    return Media(head[1] or sniffed(data) or usual, data, name=name, residue=residue)


def from_base64(data: str, mime: str, usual: str, name: str = "", residue: Residue | None = None) -> Media:
    if data.startswith("data:"):
        return from_url(data, mime or usual, name, residue)
    return Media(mime or sniffed(data) or _by_ending(name) or usual, data, name=name, residue=residue)


def sniffed(data: str) -> str:
    return next((mime for start, mime in FIRST_BYTES.items() if data.startswith(start)), "")


def held_file(kind: str, file_id: str, part: dict[str, Any], door: Door) -> Opaque:
    """A file that lies at the provider: every model of that account can read it, and nobody else."""
    marks = door.scoped_residue("account", file_id=file_id, **{door.unit: part})
    told = [text_of(part.get(name)) for name in ("title", "context")]  # of Anthropic's documents
    return Opaque(kind, "\n\n".join([f"[file {file_id}]", *filter(None, told)]), marks)


def _by_ending(place: str) -> str:
    path = re.split(r"[?#]", place, maxsplit=1)[0]
    return ENDINGS.get(path.rpartition(".")[2].lower(), "") if "." in path else ""


# Chat


def image_url(part: dict[str, Any], door: Door) -> Iterator[Item]:
    """`{"image_url": {"url", "detail"}}`, and the bare text that Mistral and Responses write."""
    value = part.get("image_url")
    if value is None and part.get("file_id"):
        yield held_file("input_image", text_of(part["file_id"]), part, door)
        return
    detail = dict_of(value).get("detail") or part.get("detail")
    yield from_url(_url(value), "image/*", residue=door.scoped_residue("provider", detail=detail))


def video_url(part: dict[str, Any], door: Door) -> Iterator[Item]:
    """A part that some servers of Chat have (OpenRouter, Qwen, vLLM): it goes back to them as it is."""
    marks = door.scoped_residue("provider", part="video_url")
    yield from_url(_url(part.get("video_url")), "video/mp4", residue=marks)


def audio_url(part: dict[str, Any], door: Door) -> Iterator[Item]:
    marks = door.scoped_residue("provider", part="audio_url")
    yield from_url(_url(part.get("audio_url")), "audio/mpeg", residue=marks)


def document_url(part: dict[str, Any], door: Door) -> Iterator[Item]:
    yield from_url(_url(part.get("document_url")), "application/pdf", text_of(part.get("document_name")))


def input_audio(part: dict[str, Any], door: Door) -> Iterator[Item]:
    audio = part.get("input_audio")
    if isinstance(audio, str):  # Mistral: base64 or a link
        audio = {"data": audio}
    audio = dict_of(audio)
    data, form = text_of(audio.get("data")), text_of(audio.get("format")) or "wav"
    if data.startswith(("http://", "https://")):
        yield from_url(data, "audio/mpeg")
    else:
        yield from_base64(data, ENDINGS.get(form, f"audio/{form}"), "audio/wav")


def file(part: dict[str, Any], door: Door) -> Iterator[Item]:
    """A file of Chat (`{"file": {…}}`) or Responses (the same fields on the part itself)."""
    inner = dict_of(part.get("file")) or part
    name = text_of(inner.get("filename"))
    if inner.get("file_data"):
        found = from_base64(text_of(inner["file_data"]), "", "application/octet-stream", name)
        is_named = bool(name) and found.mime.startswith(("image/", "audio/", "video/"))
        yield replace(found, residue=door.scoped_residue("provider", named=True)) if is_named else found
    elif inner.get("file_url"):
        # The server looks what it is: a link of this format needs no type.
        found = from_url(text_of(inner["file_url"]), UNKNOWN_KIND, name)
        is_untyped = found.mime == UNKNOWN_KIND
        yield replace(found, residue=door.scoped_residue("provider", link=is_untyped or None))
    elif file_id := text_of(inner.get("file_id")):
        yield held_file("file", file_id, part, door)
    else:
        yield Opaque(
            "file", f"[file {name}: nothing of it was sent]" if name else "[a file: nothing of it was sent]"
        )


def _url(value: Any) -> str:
    return text_of(value.get("url")) if isinstance(value, dict) else text_of(value)


# Anthropic


def sourced(part: dict[str, Any], door: Door) -> Iterator[Item]:
    """An image or document with a `source`: base64, a link, plain text, blocks or a file id."""
    source, kind = dict_of(part.get("source")), text_of(part.get("type"))
    name = text_of(part.get("title"))
    usual = "image/*" if kind == "image" else "application/pdf"
    match source.get("type"):
        case "base64":
            data, mime = text_of(source.get("data")), text_of(source.get("media_type"))
            yield from_base64(data, mime, usual, name, _document_marks(part, door))
        case "url":
            yield from_url(text_of(source.get("url")), usual, name, _document_marks(part, door))
        case "text":
            # Everyone can read text, so it is text; its author's provider gets the document back.
            head = [name, text_of(part.get("context"))]
            said = "\n\n".join(text for text in (*head, text_of(source.get("data"))) if text)
            yield Text(said, door.scoped_residue("provider", block=part))
        case _:
            yield from _other_source(part, door)


def _document_marks(part: dict[str, Any], door: Door) -> Residue | None:
    """What Anthropic is told about a document beside what is in it."""
    names = ("title", "context", "citations")
    around = {name: part[name] for name in names if part.get(name) is not None}
    return door.scoped_residue("provider", document=around) if around.keys() - {"title"} else None


def _other_source(part: dict[str, Any], door: Door) -> Iterator[Item]:
    source, kind = dict_of(part.get("source")), text_of(part.get("type"))
    if "image_url" in part or "data" in part or "url" in part:  # an image written in another family's way
        value = part.get("image_url") or part.get("url") or part.get("data")
        url = _url(value)
        yield (
            from_url(url, "image/*")
            if ":" in url[:12]
            else from_base64(url, text_of(part.get("mimeType") or part.get("media_type")), "image/*")
        )
    elif source.get("file_id"):
        yield held_file(kind, text_of(source["file_id"]), part, door)
    else:
        yield Opaque(kind, words_of(kind, part), door.scoped_residue("provider", block=part))
