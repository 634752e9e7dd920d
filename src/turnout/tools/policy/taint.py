"""Taint: whether content in the context came from someone other than the user.

Every result is marked with its source when it is settled. A file, a page or the answer of a server
may hold instructions, and models do not reliably notice that. So once such content was read, policy
asks before anything leaves the machine (see `rules`). What a provider looked up itself (its own web
search) is in the model's turn and counts as well. A mark is never removed: a summary of such content
may repeat its instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model import ModelTurn, Opaque, Outcome, Turn

TRUSTED = frozenset(("user", "model"))
"""Trusted sources: the user's answers, and the model's own words."""

OWN = frozenset(("refusal", "audio", "compaction"))
"""Opaque blocks of providers that hold only the model's words."""

NAMES = {
    "web": "the web",
    "mcp": "an MCP server",
    "subagent": "a subagent",
    "provider": "a tool that the provider ran",
    "tool": "a tool",
    "": "a tool",  # a log from another program does not name the source
}


class Taint:
    """Feed it every outcome; `source` is the one that matters most, or "" while there is none."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self._seen: set[str] = set()
        self._last = ""
        for outcome in outcomes:
            self.feed(outcome)

    def feed(self, outcome: Outcome) -> None:
        if outcome.content and not outcome.synthetic and outcome.status != "denied":
            self._seen.add(outcome.source.partition(":")[0])

    def look(self, turns: Sequence[Turn]) -> None:
        """Look at the turns that were added since the last call."""
        newest = turns[-1].key if turns else ""
        for turn in reversed(turns):
            if turn.key == self._last:
                break
            if isinstance(turn, ModelTurn) and any(_is_foreign(block) for block in turn.blocks):
                self._seen.add("provider")
        self._last = newest

    @property
    def source(self) -> str:
        """The source of untrusted content in the context, in words."""
        foreign = self._seen - TRUSTED
        known = (words for name, words in NAMES.items() if name in foreign)
        return next(known, "") or min(foreign, default="")


def _is_foreign(block: object) -> bool:
    """Whether a provider added content from outside: kinds of blocks that we do not know count."""
    return isinstance(block, Opaque) and block.kind not in OWN
