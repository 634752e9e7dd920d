"""Media as a provider accepts it: with the type that its first bytes show, or a text in its place.

Providers look into images and documents, and refuse those that are empty or do not match
their type. A wrong type is corrected. A text takes the place of what cannot be read.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error

from msgspec.structs import replace

from ..model import Media, Text, block_text
from ..plain import clean_text

SIGNED = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf")
"""Types whose first bytes are known: data without them is not of that type."""

SPELLINGS = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
UNKNOWN = ("", "*/*", "application/octet-stream")

_ENOUGH = 1_368  # characters of base64: a PDF may carry up to a kilobyte before its mark
_URL_SAFE = str.maketrans("-_", "+/")


def readable(media: Media) -> Media | Text:
    """The same medium with its true type, or the text that takes its place."""
    mime = SPELLINGS.get(media.mime.lower(), media.mime.lower())
    if media.uri:
        return media if mime == media.mime else replace(media, mime=mime)
    if not media.data.strip():
        return media_in_words(media, "it is empty")
    data = _plain(media.data)
    if not _is_base64(data):
        return media_in_words(media, "its data is not base64")
    true = detect_type(data)
    if not true and (mime in SIGNED or mime.endswith("/*")):
        return media_in_words(media, f"its data is not {mime}")
    mime = true if _overrides(true, mime) else mime
    return media if (mime, data) == (media.mime, media.data) else replace(media, mime=mime, data=data)


def media_in_words(media: Media, why: str) -> Text:
    """The medium as text: its content if it is a text, else what it is and why it was left out."""
    if media.mime.startswith("text/") and (text := _decoded_text(media.data)).strip():
        return Text(f"{media.name}\n\n{text}" if media.name else text)
    return Text(f"{block_text(media)} (left out: {why})")


def _decoded_text(data: str) -> str:
    try:
        return clean_text(b64decode(_plain(data), validate=True).decode(errors="replace"))
    except (Error, ValueError):
        return ""


def detect_type(data: str) -> str:
    """The type that the first bytes show, or ""."""
    start = b64decode(data[:_ENOUGH])
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    return "application/pdf" if b"%PDF-" in start[:1_024] else ""


def _overrides(true: str, said: str) -> bool:
    """Whether the type by bytes replaces the given one: not where other types may hold such bytes."""
    return bool(true) and (said in (*SIGNED, *UNKNOWN) or said.startswith("image/"))


def _plain(data: str) -> str:
    """Base64 as APIs want it: no line breaks, the usual alphabet, padded."""
    data = "".join(data.split()).translate(_URL_SAFE).rstrip("=")
    return data + "=" * (-len(data) % 4)


def _is_base64(data: str) -> bool:
    try:
        b64decode(data, validate=True)
    except (Error, ValueError):
        return False
    return True
