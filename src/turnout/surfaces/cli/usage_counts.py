"""What replies used, added to the counters that `turnout stats` shows over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...model import ModelTurn
from ...providers.cost import cost_of_turn

if TYPE_CHECKING:
    from ...store import Store

REPLIES = "replies"
INPUT = "tokens_input"
OUTPUT = "tokens_output"
COST = "cost_microdollars"


def count_use(store: Store | None, turns: Iterable[ModelTurn]) -> None:
    """Count replies, their tokens and their cost; nothing that was said."""
    if store is None:
        return
    for turn in turns:
        used = turn.usage
        store.counters(REPLIES, turn.origin, 1)
        store.counters(INPUT, turn.origin, (used and used.input) or 0)
        store.counters(OUTPUT, turn.origin, (used and used.output) or 0)
        store.counters(COST, turn.origin, round((cost_of_turn(turn) or 0.0) * 1_000_000))
