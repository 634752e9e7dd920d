"""What replies used and cost, by the prices of the model table, and whether a limit on it is reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import UsageError
from ..model import ModelTurn, Origin, Usage
from .hosted_uses import cost_of_uses
from .prices import price


def cost_of(turns: Sequence[ModelTurn]) -> float | None:
    """US dollars for these replies; None where no price is known."""
    costs = [cost for turn in turns if (cost := cost_of_turn(turn)) is not None]
    return sum(costs) if costs else None


def cost_of_turn(turn: ModelTurn) -> float | None:
    found = price(turn.origin)
    if found is None or turn.usage is None:
        return None
    return found.of(turn.usage) + cost_of_uses(turn)


def total_usage(usages: Iterable[Usage | None]) -> Usage:
    """The sum of each count; None where no reply has that count."""
    known = [usage for usage in usages if usage is not None]

    def sum_of(name: str) -> int | None:
        counts = [count for usage in known if (count := getattr(usage, name)) is not None]
        return sum(counts) if counts else None

    return Usage(**{name: sum_of(name) for name in Usage.__struct_fields__})


class Spending:
    """What the replies in a list used and cost, counted once each: the list may grow meanwhile."""

    def __init__(self, turns: Sequence[ModelTurn]) -> None:
        self._turns = turns
        self._counted = 0
        self._tokens = 0
        self._cost = 0.0

    def reached_limit(self, *, tokens: int | None, cost: float | None) -> str | None:
        """The limit that is used up, as text."""
        self._count_new()
        if tokens is not None and self._tokens >= tokens:
            return f"the limit of {tokens} tokens is used up ({self._tokens})"
        if cost is not None and self._cost >= cost:
            return f"the limit of ${cost:g} is used up (${self._cost:.4f})"
        return None

    def _count_new(self) -> None:
        for at in range(self._counted, len(self._turns)):
            usage = self._turns[at].usage
            self._tokens += (usage.input or 0) + (usage.output or 0) if usage is not None else 0
            self._cost += cost_of_turn(self._turns[at]) or 0.0
        self._counted = len(self._turns)


def check_countable(limit: float | None, origins: Iterable[Origin]) -> None:
    """Raise where a limit on money could not be counted, because a price is not known."""
    if limit is None:
        return
    for origin in origins:
        if price(origin) is None:
            raise UsageError(_missing_price_words(limit, f"{origin.provider}:{origin.model}"))


def _missing_price_words(limit: float, name: str) -> str:
    return (
        f"the limit of ${limit:g} cannot be counted: no price is known for {name}. Give its price in dollars "
        f'per million tokens in config.toml, [models."{name}"] price = {{input = …, output = …}}, or with '
        "turnout.providers.prices.set_price; or leave the limit out"
    )
