"""How much text the results of one batch may bring into the conversation, and what is cut to that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...model import Content, Media, Outcome, Text, block_text
from ..confine.output import within_budget

if TYPE_CHECKING:
    from .scheduler import ToolLimits


class BatchBudget:
    """One sum of characters for a batch: each call gets its part of what the results before it left."""

    def __init__(self, limits: ToolLimits, calls: int) -> None:
        self.limits = limits
        self._room = limits.batch
        self._waiting = calls  # that have not had their share
        self._served: set[str] = set()

    def share(self, call_id: str, size: int) -> int:
        """How many characters this result, of that size, may have."""
        if call_id in self._served:
            return self.limits.result
        self._served.add(call_id)
        share = min(self._room // self._waiting, self.limits.result)
        self._waiting -= 1
        self._room -= min(size, share)
        return share

    def within(self, outcome: Outcome, share: int, save: Callable[[str], str]) -> Outcome:
        """The outcome with no more than its share of text, and no media too large to send."""
        largest = self.limits.media
        if any(isinstance(block, Media) and len(block.data) > largest for block in outcome.content):
            outcome = replace(outcome, content=tuple(_sendable(block, largest) for block in outcome.content))
        if text_size(outcome) <= share:
            return outcome
        return within_budget((outcome,), share, each=share, save=save)[0]


def text_size(outcome: Outcome) -> int:
    return sum(len(block_text(block)) for block in outcome.content if not isinstance(block, Media))


def _sendable(block: Content, limit: int) -> Content:
    if not isinstance(block, Media) or len(block.data) <= limit:
        return block
    return Text(f"[{block.mime} of about {len(block.data) * 3 // 4:,} bytes left out: too large to send]")
