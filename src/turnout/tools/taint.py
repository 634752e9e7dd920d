"""Whether someone other than the user had a say: where the content in the context came from.

Every result is marked with its source when it is settled. What a tool read, a page said or
a server sent may hold instructions, and no model can be relied on to tell. So once such
content was read, policy asks before anything leaves the machine (see `policy`). A mark is
never taken back: a summary of what was read has been told by it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Outcome

TRUSTED = frozenset(("user", "model"))
"""Who speaks for themselves: the user's answers, and the model's own words."""

NAMES = {
    "web": "the web",
    "mcp": "an MCP server",
    "subagent": "a subagent",
    "tool": "a tool",
    "": "a tool",  # a log that was written elsewhere says nothing about it
}


class Taint:
    """Feed it every outcome; it knows the source that matters most, or "" while there is none."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self._seen: set[str] = set()
        for outcome in outcomes:
            self.feed(outcome)

    def feed(self, outcome: Outcome) -> None:
        if outcome.content and not outcome.synthetic and outcome.status != "denied":
            self._seen.add(outcome.source.partition(":")[0])

    @property
    def source(self) -> str:
        """Whose content is in the context, in words."""
        foreign = self._seen - TRUSTED
        known = (said for name, said in NAMES.items() if name in foreign)
        return next(known, "") or min(foreign, default="")
