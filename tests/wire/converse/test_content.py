"""Blocks of Converse: media by format, names of documents, results."""

from __future__ import annotations

import pytest
from tests.botocore_shapes import shape_of

from turnout.model import Media, Outcome, ToolResponse
from turnout.providers.bedrock import CLAUDE, NOVA, PLAIN
from turnout.wire.converse.content import KINDS, DocumentNames, media_block, result_block


@pytest.mark.parametrize(("kind", "formats"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_format_is_one_that_the_service_knows(kind: str, formats: dict[str, str]) -> None:
    """botocore's model lists them."""
    known = shape_of("messages", "[]", "content", "[]", kind, "format").metadata["enum"]
    assert set(formats.values()) <= set(known)


def test_a_place_in_s3_is_named() -> None:
    """Any other address is sent in words, and the report says so."""
    changes: list[str] = []
    block = media_block(Media("video/mp4", uri="s3://bucket/a.mp4"), DocumentNames(), changes)
    assert block == {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/a.mp4"}}}}
    assert changes == []
    assert "text" in media_block(Media("image/png", uri="https://x/a.png"), DocumentNames(), changes)
    assert len(changes) == 1


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("a.pdf", "a"), ("", "Document"), ("x" * 300, "x" * 192), ("two  spaces", "two spaces"), ("ü", "-")],
)
def test_the_name_of_a_document_is_made_to_fit(wanted: str, name: str) -> None:
    """Few characters, at most 200, never empty."""
    assert DocumentNames().choose(wanted) == name


def test_a_failed_result_says_so_as_the_model_takes_it() -> None:
    """By its status, or in its text."""
    failed = ToolResponse("1", "look", Outcome("error", "no such file"))
    assert result_block(failed, "t1", CLAUDE, DocumentNames(), [])["toolResult"]["status"] == "error"
    plain = result_block(failed, "t1", PLAIN, DocumentNames(), [])["toolResult"]
    assert "status" not in plain and plain["content"] == [{"text": "Error: no such file"}]


def test_media_stands_in_results_only_where_the_model_takes_it() -> None:
    """Nova refuses files there, so they follow the results."""
    shown = ToolResponse("1", "look", Outcome("complete", Media("image/png", "iVBORw0KGgo=")))
    kinds = [
        list(block)
        for block in result_block(shown, "t", CLAUDE, DocumentNames(), [])["toolResult"]["content"]
    ]
    assert kinds == [["text"], ["image"]]
    assert len(result_block(shown, "t", NOVA, DocumentNames(), [])["toolResult"]["content"]) == 1
