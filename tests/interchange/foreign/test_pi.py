"""Sessions of pi."""

from __future__ import annotations

from tests.interchange.foreign.sample_sessions import PI, lines, pi, told

from turnout.interchange.foreign import READERS


def test_pis_compaction_keeps_what_was_kept() -> None:
    """From the entry that it names."""
    cut = {"type": "compaction", "id": "9", "parentId": "8", "summary": "We read.", "firstKeptEntryId": "8"}
    found = READERS["pi"](lines(*PI, cut, pi("10", "9", "user", "on")), "s")
    assert (found.history.summary, told(found.history)) == ("We read.", ["model: Only A.", "user: on"])
