"""Messages without a next step, each with the reason."""

from __future__ import annotations

DECODED = "a store or an import keeps the entry as a note with this text"
FILLED_IN = "the text that is filled in names the next step"

NO_NEXT_STEP: dict[str, str] = {
    "an entry has the wrong shape ({…})": DECODED,
    "an entry is not JSON ({…})": DECODED,
    "an entry must be a JSON object with a 'type'": DECODED,
    "{…} is a database, but not a log of llm; for a database of opencode use {…}": FILLED_IN,
    "{…} is a database; {…}": FILLED_IN,
    "{…} is {…}; a store is a file, so {…}": FILLED_IN,
    "the store {…} failed: {…}": FILLED_IN,
    "bug: the run ended without a terminal event": "cannot happen; it is for a bug report",
    "bug: the subagent ended without a terminal event": "cannot happen; it is for a bug report",
}
