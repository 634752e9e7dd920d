"""What replies cost, from the prices of the model table."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import ModelTurn
from ..providers.prices import price


def cost_of(turns: Sequence[ModelTurn]) -> float | None:
    """US dollars for these replies; None where no price is known."""
    costs = [cost for turn in turns if (cost := cost_of_turn(turn)) is not None]
    return sum(costs) if costs else None


def cost_of_turn(turn: ModelTurn) -> float | None:
    found = price(turn.origin)
    if found is None or turn.usage is None:
        return None
    return found.of(turn.usage)
