"""Money and tokens that several sessions may use together: a pool, or all sessions of one user."""

from __future__ import annotations

from ..errors import LimitReached
from ..model import ModelTurn
from ..providers.cost import cost_of_turn


class SharedBudget:
    """A limit for several sessions: `Session(…, limits=Limits(budget=budget))` each.

    Every reply of theirs is counted, those of subagents and summaries too. When it is used up, the next
    request of any of them is a `LimitReached`. `cost` is in US dollars.
    """

    def __init__(self, *, cost: float | None = None, tokens: int | None = None) -> None:
        self.cost = cost
        self.tokens = tokens
        self.cost_used = 0.0
        self.tokens_used = 0

    @property
    def used_up(self) -> str | None:
        """The limit that is used up, as text; None where something is left."""
        if self.tokens is not None and self.tokens_used >= self.tokens:
            return f"the shared limit of {self.tokens} tokens is used up ({self.tokens_used})"
        if self.cost is not None and self.cost_used >= self.cost:
            return f"the shared limit of ${self.cost:g} is used up (${self.cost_used:.4f})"
        return None

    def check(self) -> None:
        """Raise where the budget is used up."""
        if (used_up := self.used_up) is not None:
            raise LimitReached(f"{used_up}; raise it, or start anew")

    def count_reply(self, turn: ModelTurn) -> None:
        """Count the tokens and the cost of a reply."""
        usage = turn.usage
        self.tokens_used += (usage.input or 0) + (usage.output or 0) if usage is not None else 0
        self.cost_used += cost_of_turn(turn) or 0.0

    def add_cost(self, cost: float) -> None:
        """Count money that was spent before, such as by an earlier process."""
        self.cost_used += cost
