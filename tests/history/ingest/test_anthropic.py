"""Blocks of Anthropic."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import blocks
from tests.history.ingest.telling import (
    assistant,
    user,
)

from turnout.history.ingest import ingest
from turnout.model import Text


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "thinking", "thinking": "", "signature": ""}, "thinking"),
        ({"type": "thinking"}, "thinking"),
        ({"type": "redacted_thinking", "data": ""}, "redacted_thinking"),
        ({"type": "redacted_thinking"}, "redacted_thinking"),
    ],
)
def test_thinking_without_words_and_signature_is_named(block: dict[str, Any], kind: str) -> None:
    """Nobody can be given it back, and the reader of the diagnostics knows that it was there."""
    said = {"role": "assistant", "content": [block, {"type": "text", "text": "yes"}]}
    history = ingest([user("?"), said], "anthropic")

    assert [(item.code, item.detail) for item in history.diagnostics] == [("empty_block", kind)]
    assert history.turns[1].blocks == (Text("yes"),)


def test_citations_ride_on_their_text() -> None:
    """Citations are kept on the text that they belong to."""
    (said,) = blocks(
        [assistant([{"type": "text", "text": "hi", "citations": [{"title": "t"}]}])], "anthropic"
    )

    assert said.residue.data == {"citations": [{"title": "t"}]}
