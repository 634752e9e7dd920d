"""Whether someone other than the user had a say: where the content in the context came from.

Every result is marked with its source when it is settled. What a tool read, a page said or
a server sent may hold instructions, and no model can be relied on to tell. So once such
content was read, policy asks before anything leaves the machine (see `policy`). What a
provider looked up itself (its own web search) stands in the model's turn and counts as well.
A mark is never taken back: a summary of what was read has been told by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model import ModelTurn, Opaque, Outcome, Turn

TRUSTED = frozenset(("user", "model"))
"""Who speaks for themselves: the user's answers, and the model's own words."""

OWN = frozenset(("refusal", "audio", "compaction"))
"""Blocks of a provider's own kind that hold nothing but the model's words."""

NAMES = {
    "web": "the web",
    "mcp": "an MCP server",
    "subagent": "a subagent",
    "provider": "a tool that the provider ran",
    "tool": "a tool",
    "": "a tool",  # a log that was written elsewhere says nothing about it
}


class Taint:
    """Feed it every outcome; it knows the source that matters most, or "" while there is none."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self._seen: set[str] = set()
        self._last = ""
        for outcome in outcomes:
            self.feed(outcome)

    def feed(self, outcome: Outcome) -> None:
        if outcome.content and not outcome.synthetic and outcome.status != "denied":
            self._seen.add(outcome.source.partition(":")[0])

    def look(self, turns: Sequence[Turn]) -> None:
        """Look into the turns that came since the last time."""
        newest = turns[-1].key if turns else ""
        for turn in reversed(turns):
            if turn.key == self._last:
                break
            if isinstance(turn, ModelTurn) and any(_is_foreign(block) for block in turn.blocks):
                self._seen.add("provider")
        self._last = newest

    @property
    def source(self) -> str:
        """Whose content is in the context, in words."""
        foreign = self._seen - TRUSTED
        known = (said for name, said in NAMES.items() if name in foreign)
        return next(known, "") or min(foreign, default="")


def _is_foreign(block: object) -> bool:
    """Whether a provider put something in: what we do not know counts."""
    return isinstance(block, Opaque) and block.kind not in OWN
