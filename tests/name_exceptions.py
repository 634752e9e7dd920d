"""Names that break a rule of `test_names.py`, each with the reason."""

from __future__ import annotations

BARE_WORDS: dict[str, str] = {
    "thinking": "a noun of the model: what a model thinks",
    "done": "`ReplyBuilder.done` gives the event `Done`, as `fail` gives `Error`; a public name",
}
SHARED_FUNCTIONS: dict[str, str] = {}
