"""What replies used and cost, by the prices of the model table, and what a session may spend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ..errors import UsageError
from ..model import ModelTurn, Origin, Usage
from .prices import price


class Limits(Struct, frozen=True):
    """What a session may spend; None is no limit."""

    tokens: int | None = None
    cost: float | None = None


def cost_of(turns: Sequence[ModelTurn]) -> float | None:
    """US dollars for these replies; None where no price is known."""
    costs = [cost for turn in turns if (cost := cost_of_turn(turn)) is not None]
    return sum(costs) if costs else None


def cost_of_turn(turn: ModelTurn) -> float | None:
    found = price(turn.origin)
    if found is None or turn.usage is None:
        return None
    return found.of(turn.usage)


def total_usage(usages: Iterable[Usage | None]) -> Usage:
    """All of it together; None where nobody counted."""
    known = [usage for usage in usages if usage is not None]

    def add(name: str) -> int | None:
        counts = [count for usage in known if (count := getattr(usage, name)) is not None]
        return sum(counts) if counts else None

    return Usage(**{name: add(name) for name in Usage.__struct_fields__})


def reached(limits: Limits, turns: Sequence[ModelTurn]) -> str | None:
    """The limit that is used up, in words. Asked every round: without limits nothing is added up."""
    if limits.tokens is not None and (tokens := _tokens(turns)) >= limits.tokens:
        return f"the limit of {limits.tokens} tokens is used up ({tokens})"
    if limits.cost is not None and (cost := cost_of(turns) or 0.0) >= limits.cost:
        return f"the limit of ${limits.cost:g} is used up (${cost:.4f})"
    return None


def check_countable(limits: Limits, origins: Iterable[Origin]) -> None:
    """Raise where a limit on money could not hold, because nobody knows what a reply would cost."""
    if limits.cost is None:
        return
    for origin in origins:
        if price(origin) is None:
            raise UsageError(_missing_price_words(limits.cost, f"{origin.provider}:{origin.model}"))


def _missing_price_words(limit: float, name: str) -> str:
    return (
        f"the limit of ${limit:g} cannot be counted: no price is known for {name}. Give its price in dollars "
        f'per million tokens in config.toml, [models."{name}"] price = {{input = …, output = …}}, or with '
        "turnout.providers.prices.set_price; or leave the limit out"
    )


def _tokens(turns: Iterable[ModelTurn]) -> int:
    return sum((used.input or 0) + (used.output or 0) for turn in turns if (used := turn.usage) is not None)
