"""How much text the results of one batch may add to the conversation, and the cut of those that exceed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...model import Content, Media, Outcome, Text, block_text
from ..confine.output import within_budget
from ..confine.threads import NoThread, ThreadPort

if TYPE_CHECKING:
    from .scheduler import ToolLimits


LARGE = 1_000_000
"""Characters from which on a result is cut and saved in a thread."""


class BatchBudget:
    """One number of characters for a batch: each call gets its part of what earlier results left over."""

    def __init__(self, limits: ToolLimits, calls: int) -> None:
        self.limits = limits
        self._room = limits.batch
        self._waiting = calls  # calls that have not had their share
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


class ResultFitter:
    """Fits each result of a batch into its share of the budget.

    `save` keeps the whole text of a result that is cut. `on_cut` is called with the sizes before and after.
    """

    def __init__(
        self,
        budget: BatchBudget,
        threads: ThreadPort,
        save: Callable[[str], str],
        on_cut: Callable[[str, int, int], None],
    ) -> None:
        self._budget, self._threads, self._save, self._on_cut = budget, threads, save, on_cut

    async def fit_in_thread(self, call_id: str, outcome: Outcome) -> Outcome:
        """The outcome within its share; a large one is cut and saved in a thread."""
        size = text_size(outcome)
        if size < LARGE:
            return self.fit(call_id, outcome)
        share = self._budget.share(call_id, size)
        try:
            cut: Outcome = await self._threads.start(lambda: self._budget.within(outcome, share, self._save))
        except NoThread:
            cut = self._budget.within(outcome, share, self._save)
        return self._report_cut(call_id, outcome, cut)

    def fit(self, call_id: str, outcome: Outcome) -> Outcome:
        """The outcome within its share."""
        share = self._budget.share(call_id, text_size(outcome))
        return self._report_cut(call_id, outcome, self._budget.within(outcome, share, self._save))

    def _report_cut(self, call_id: str, outcome: Outcome, cut: Outcome) -> Outcome:
        if cut is not outcome:
            self._on_cut(call_id, text_size(outcome), text_size(cut))
        return cut


def text_size(outcome: Outcome) -> int:
    return sum(len(block_text(block)) for block in outcome.content if not isinstance(block, Media))


def _sendable(block: Content, limit: int) -> Content:
    if not isinstance(block, Media) or len(block.data) <= limit:
        return block
    return Text(f"[{block.mime} of about {len(block.data) * 3 // 4:,} bytes left out: too large to send]")
