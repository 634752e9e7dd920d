"""The canonical content list."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import blocks, reply
from tests.history.ingest.telling import (
    asks,
    content,
    text,
    thought,
)

from turnout.model import Code, Media, Origin, Thinking


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, Origin("groq", "eu", "m")),
        ({"provider": "anthropic", "model": "claude"}, Origin("anthropic", "", "claude")),
        ({"provider": "anthropic"}, Origin("anthropic")),
        ({"model": "other"}, Origin("groq", "eu", "other")),
        (
            {"provider": "openai", "model": "gpt", "providerBaseURL": "https://api.openai.com/v1"},
            Origin("openai", "", "gpt"),
        ),
        (
            {"provider": "openai", "model": "gpt", "providerBaseURL": "https://proxy.example/v1"},
            Origin("openai", "https://proxy.example/v1", "gpt"),
        ),
    ],
)
def test_a_contents_own_metadata_comes_first(metadata: dict[str, str], expected: Origin) -> None:
    """It names the origin of each content."""
    assert reply([content("ai", text("hi"), **metadata)], "icontent", origin="groq@eu:m").origin == expected


@pytest.mark.parametrize(
    ("provider", "fields", "data"),
    [
        ("anthropic", {"signature": "s"}, {"signature": "s"}),
        ("anthropic", {"redactedData": "r"}, {"redacted": "r"}),
        ("gemini", {"signature": "s"}, {"thought_signature": "s"}),
        (
            "openai",
            {"encryptedContent": "e", "itemId": "rs_1"},
            {
                "item": {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "hm"}],
                    "encrypted_content": "e",
                }
            },
        ),
        ("kimi", {}, {"field": "reasoning_content"}),
    ],
)
def test_private_state_takes_the_shape_of_its_provider(
    provider: str, fields: dict[str, str], data: dict[str, Any]
) -> None:
    """So that only the protocol of that provider reads it."""
    (thinking,) = blocks([content("ai", thought("hm", **fields), provider=provider, model="m")], "icontent")

    assert isinstance(thinking, Thinking)
    assert thinking.residue.data == data
    assert thinking.residue.origin == Origin(provider, "", "m")


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_thinking_without_private_state_has_no_residue(provider: str) -> None:
    """Nothing is made up."""
    assert blocks([content("ai", thought("hm"), provider=provider, model="m")], "icontent") == (
        Thinking("hm"),
    )


def test_a_contents_calls_media_and_code() -> None:
    """Each block becomes a block of ours."""
    given = content(
        "ai",
        {**asks("x", "f", n=1), "thoughtSignature": "s", "itemId": "fc_1"},
        {"type": "media", "mimeType": "image/png", "data": "QUJD", "encoding": "base64"},
        {"type": "media", "mimeType": "image/png", "data": "https://x.test/a", "encoding": "url"},
        {"type": "code", "code": "1+1", "language": "python"},
        provider="gemini",
        model="m",
    )
    made, image, link, code = blocks([given], "icontent")

    assert made.residue.data == {"thought_signature": "s", "item_id": "fc_1"}
    assert (image, link) == (Media("image/png", "QUJD"), Media("image/png", uri="https://x.test/a"))
    assert code == Code("1+1", "python")


def test_parameters_may_be_the_text_that_a_model_wrote() -> None:
    """Text that was cut is kept, and its fault is named."""
    (made,) = blocks([content("ai", {**asks("x"), "parameters": '{"n": 1'})], "icontent")

    assert (made.arguments, made.raw, made.fault) == ({}, '{"n": 1', "truncated")
