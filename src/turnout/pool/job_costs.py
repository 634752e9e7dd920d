"""Whether another prompt may be started within a limit on money, while others are under way. No IO.

What a prompt costs is known afterwards. So a prompt that is under way counts as much as the dearest one of
its target so far, and the first one of a target is asked alone.
"""

from __future__ import annotations

from collections import Counter

from ..session.budget import SharedBudget


class JobCosts:
    """What the prompts under way may cost."""

    def __init__(self, budget: SharedBudget) -> None:
        self._budget = budget
        self._dearest: dict[str, float] = {}
        self._running: Counter[str] = Counter()

    def may_start(self, target: str) -> bool:
        """Whether a prompt may be started now. Where nothing is under way, False means never."""
        if self._budget.used_up is not None:
            return False
        if self._budget.cost is None or not self._running.total():
            return True
        if target not in self._dearest and self._running[target]:
            return False
        expected = sum(self._dearest.get(name, 0.0) * count for name, count in self._running.items())
        return self._budget.cost_used + expected + self._dearest.get(target, 0.0) <= self._budget.cost

    def note_start(self, target: str) -> None:
        self._running[target] += 1

    def note_end(self, target: str) -> None:
        self._running[target] -= 1

    def note_cost(self, target: str, cost: float | None) -> None:
        """What an answered prompt cost."""
        self._dearest[target] = max(self._dearest.get(target, 0.0), cost or 0.0)
