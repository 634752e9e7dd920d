"""Names that break a rule of `test_names.py`, each with the reason."""

from __future__ import annotations

BARE_WORDS: dict[str, str] = {
    "standing": "`History.standing`: the entries that no rewind has undone; a public name of the log",
    "thinking": "a noun of the model: what a model thinks",
    "done": "`ReplyBuilder.done` gives the event `Done`, as `fail` gives `Error`; a public name",
}
SHARED_FUNCTIONS: dict[str, str] = {}
