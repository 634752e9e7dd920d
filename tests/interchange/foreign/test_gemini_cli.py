"""Files of Gemini CLI: documents and checkpoints beside logs."""

from __future__ import annotations

import json

from tests.interchange.foreign.sample_sessions import GEMINI, told

from turnout.interchange.foreign import READERS


def test_gemini_clis_other_files_are_read_too() -> None:
    """A chat as one document, and a checkpoint as a list of contents."""
    messages = [GEMINI[1], *GEMINI[4:7]]
    found = READERS["gemini-cli"](json.dumps({"sessionId": "x", "messages": messages}).encode(), "s")
    assert told(found.history)[-1] == "model: Only A."
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "ho"}]}]
    for document in (contents, {"history": contents}):
        found = READERS["gemini-cli"](json.dumps(document).encode(), "s")
        assert told(found.history) == ["user: hi", "model: ho"]
