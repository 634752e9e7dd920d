"""Media: their true type by their first bytes, and words where a provider would refuse them."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import pytest

from turnout.model import Media, Text
from turnout.rendering.media import detect_type, media_in_words, readable

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 20
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8 "
PDF = b"%PDF-1.7 "


def written(data: bytes) -> str:
    return b64encode(data).decode()


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF87a....", "image/gif"),
        (b"GIF89a....", "image/gif"),
        (WEBP, "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", ""),  # a sound in the same box
        (b"xxxx\x00\x00\x00\x00WEBPVP8 ", ""),
        (PDF, "application/pdf"),
        (b"\n" * 1_019 + PDF, "application/pdf"),  # its mark stands within the first kilobyte
        (b"\n" * 1_020 + PDF, ""),
        (b"\n" * 2_000 + PDF, ""),
        (b"hello", ""),
    ],
)
def test_the_first_bytes_show_the_type(data: bytes, mime: str) -> None:
    """Each known type has its own first bytes."""
    assert detect_type(written(data)) == mime


@pytest.mark.parametrize(
    ("said", "data", "mime"),
    [
        ("image/png", PNG, "image/png"),
        ("image/jpeg", PNG, "image/png"),  # corrected
        ("image/tiff", PNG, "image/png"),  # any image that is another
        ("image/jpg", JPEG, "image/jpeg"),  # a spelling
        ("IMAGE/PNG", PNG, "image/png"),
        ("", PNG, "image/png"),
        ("*/*", PDF, "application/pdf"),
        ("application/octet-stream", PDF, "application/pdf"),
        ("image/*", WEBP, "image/webp"),
        ("text/plain", PDF, "text/plain"),  # a text may quote a PDF
        ("audio/wav", b"RIFF\x00\x00\x00\x00WAVE", "audio/wav"),  # whose first bytes nobody here knows
        ("application/zip", PNG, "application/zip"),
    ],
)
def test_a_type_is_what_the_bytes_say_where_they_can(said: str, data: bytes, mime: str) -> None:
    """A wrong type is corrected."""
    found = readable(Media(said, written(data)))
    assert isinstance(found, Media) and found.mime == mime and found.data == written(data)


@pytest.mark.parametrize(
    ("media", "why"),
    [
        (Media("image/png", " \n"), "it is empty"),
        (Media("image/png", "@@@"), "its data is not base64"),
        (Media("image/png", written(b"hello")), "its data is not image/png"),
        (Media("image/*", written(b"hello")), "its data is not image/*"),
        (Media("application/pdf", written(b"hello")), "its data is not application/pdf"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_reason(media: Media, why: str) -> None:
    """A text takes its place."""
    found = readable(media)
    assert isinstance(found, Text) and found.text.endswith(f"(left out: {why})")
    assert media.mime in found.text


def test_a_link_is_taken_at_its_word() -> None:
    """Nobody here looks behind it; only a spelling is put right."""
    link = Media("image/png", uri="https://example.com/a")
    assert readable(link) is link
    assert readable(Media("image/jpg", uri="https://example.com/a")) == Media(
        "image/jpeg", uri="https://example.com/a"
    )


def test_base64_is_written_as_apis_want_it() -> None:
    """Line breaks, the alphabet of addresses and missing padding are put right; the rest is untouched."""
    data = PNG + b"\xfb\xff\xfe"
    odd = urlsafe_b64encode(data).decode().rstrip("=")
    found = readable(Media("image/png", f"{odd[:9]}\n{odd[9:]}"))
    assert isinstance(found, Media) and found.data == written(data)
    whole = Media("image/png", written(PNG))
    assert readable(whole) is whole


def test_a_text_file_is_named_by_its_words() -> None:
    """With its name before it where it has one; anything else by what it is."""
    notes = Media("text/plain", written("café".encode()), name="notes.txt")
    assert media_in_words(notes, "x") == Text("notes.txt\n\ncafé")
    assert media_in_words(Media("text/plain", written(b"plain")), "x") == Text("plain")
    assert media_in_words(Media("text/plain", written(b" \n")), "it is blank") == Text(
        "[text/plain] (left out: it is blank)"
    )
    assert media_in_words(Media("text/plain", "@@@@@"), "no") == Text("[text/plain] (left out: no)")
    assert media_in_words(Media("text/plain", "aGk@"), "no") == Text("[text/plain] (left out: no)")
    assert media_in_words(Media("image/png", written(PNG), name="a.png"), "no") == Text(
        "[image/png a.png] (left out: no)"
    )
