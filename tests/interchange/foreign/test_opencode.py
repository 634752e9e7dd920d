"""Exports of opencode."""

from __future__ import annotations

import json

from tests.interchange.foreign.sample_sessions import OPENCODE, read, told

from turnout.interchange.foreign import READERS
from turnout.model import Media


def test_opencodes_summary_is_a_compaction() -> None:
    """And files in prompts are media."""
    assert isinstance(read("opencode").history.turns[0].blocks[1], Media)
    summary = {
        "info": {"role": "assistant", "summary": True},
        "parts": [{"type": "text", "text": "We read A."}],
    }
    after = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "on"}]}
    export = {**OPENCODE, "messages": [*OPENCODE["messages"], summary, after]}  # type: ignore[misc]
    found = READERS["opencode"](b"Exporting\n" + json.dumps(export).encode(), "s")
    assert (found.history.summary, told(found.history)) == ("We read A.", ["user: on"])
