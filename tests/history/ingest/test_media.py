"""Images, sound and files: data, links, and files at the provider."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.history.ingest.ingest_turns import blocks
from tests.history.ingest.telling import (
    text,
    user,
)

from turnout.model import Media, Opaque, Text


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,QUJD"}},
            Media("image/webp", "QUJD"),
        ),
        (
            {"type": "image_url", "image_url": "https://x.test/a.png?b"},
            Media("image/png", uri="https://x.test/a.png?b"),
        ),
        ({"type": "image_url", "image_url": {"url": "data:text/plain,a%20b"}}, Media("text/plain", "YSBi")),
        ({"type": "input_image", "image_url": "data:;base64,iVBORx"}, Media("image/png", "iVBORx")),
        (
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
            Media("audio/mpeg", "QUJD"),
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"}},
            Media("application/pdf", "QUJD", name="a.pdf"),
        ),
        (
            {"type": "input_file", "file_url": "https://x.test/a.pdf"},
            Media("application/pdf", uri="https://x.test/a.pdf"),
        ),
        (
            {"type": "document_url", "document_url": "https://x.test/b"},
            Media("application/pdf", uri="https://x.test/b"),
        ),
        (
            {"type": "video_url", "video_url": {"url": "https://x.test/c.mp4"}},
            Media("video/mp4", uri="https://x.test/c.mp4"),
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lG"}},
            Media("image/gif", "R0lG"),
        ),
        (
            {"type": "document", "title": "t", "source": {"type": "url", "url": "https://x.test/d.pdf"}},
            Media("application/pdf", uri="https://x.test/d.pdf", name="t"),
        ),
        ({"inlineData": {"mimeType": "image/png", "data": "QUJD"}}, Media("image/png", "QUJD")),
        ({"file_data": {"mime_type": "video/mp4", "file_uri": "gs://a"}}, Media("video/mp4", uri="gs://a")),
    ],
)
def test_media_is_data_or_a_place(part: dict[str, Any], media: Media) -> None:
    """However it is written, wherever it stands."""
    said, shown = blocks([user([text("look"), part])])

    assert (said, replace(shown, residue=None)) == (Text("look"), media)


def test_a_file_at_the_provider_is_kept_for_the_provider() -> None:
    """Only models of that account can read it."""
    part = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    (kept,) = blocks([user([part])], "anthropic")

    assert kept == Opaque("document", "[file file_1]", kept.residue)
    assert kept.residue.data == {"block": part, "file_id": "file_1"}
    assert kept.residue.scope == "account"


def test_a_text_document_is_text_to_everyone() -> None:
    """Its title and its content are one text."""
    part = {"type": "document", "title": "facts", "source": {"type": "text", "data": "Ruby is from 1993."}}
    (kept,) = blocks([user([part])], "anthropic")

    assert kept.text == "facts\n\nRuby is from 1993."
