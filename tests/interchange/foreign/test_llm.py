"""The log of llm up to 0.31."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interchange.foreign.sample_sessions import llm_log, refused, told

from turnout.errors import UsageError
from turnout.interchange.foreign import read_file


def test_a_conversation_is_taken_from_llms_log(tmp_path: Path) -> None:
    """The latest one, or the one that is named."""
    llm_log(
        tmp_path / "logs.db",
        [
            ("1", "gpt-4o", "hello", None, "hi", "old"),
            ("2", "gpt-4o", "read both", "Be brief.", "", "new"),
            ("3", "gpt-4o", "", None, "Only A.", "new"),
        ],
    )
    found = read_file("llm", tmp_path / "logs.db", "s")
    assert (found.id, found.title, found.history.system) == ("new", "Two files", "Be brief.")
    assert told(found.history) == ["user: read both", "model: read=complete read=error", "model: Only A."]
    assert refused(found.history) == []
    assert told(read_file("llm", tmp_path / "logs.db", "s", "old").history) == ["user: hello", "model: hi"]
    with pytest.raises(UsageError, match="no conversation 'nope'"):
        read_file("llm", tmp_path / "logs.db", "s", "nope")
