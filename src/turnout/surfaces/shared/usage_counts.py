"""Tokens and cost of replies: counted for `turnout stats`, summed for results and /stats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ...model import ModelTurn, Origin, Usage
from ...providers.cost import cost_of_turn, total_usage
from ...providers.hosted_uses import cost_of_uses, hosted_uses
from ...providers.prices import counts_cached_apart
from ...telemetry.counts import COUNTERS
from .bars import bars

if TYPE_CHECKING:
    from ...store import Store

REPLIES = "replies"
INPUT = "tokens_input"
PROMPT = "tokens_prompt"
"""All that the model read: also what came from a cache, which some APIs count apart."""
CACHED = "tokens_cached"
OUTPUT = "tokens_output"
COST = "cost_microdollars"
HOSTED = "hosted_"
"""How the counters of tools that a provider ran begin; the kind of the tool follows."""
HOSTED_COST = "hosted_cost_microdollars"

NAMES = {
    REPLIES: "replies",
    INPUT: "tokens in",
    OUTPUT: "tokens out",
    COST: "cost",
    "tool_calls_total": "tool calls",
    "tool_calls_invalid_args": "with bad arguments",
    "tool_calls_repaired": "repaired",
    "tool_api_400_total": "requests refused",
    "tool_loop_max_iterations": "loops stopped",
}


class Tokens(Struct, frozen=True):
    """Tokens as the provider counted them; null if it did not say."""

    input: int | None = None
    output: int | None = None
    total: int | None = None
    cached_input: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


def count_use(store: Store | None, turns: Iterable[ModelTurn]) -> None:
    """Count replies, their tokens and their cost. No text is stored."""
    if store is None:
        return
    for turn in turns:
        used = turn.usage
        store.counters(REPLIES, turn.origin, 1)
        store.counters(INPUT, turn.origin, (used and used.input) or 0)
        store.counters(PROMPT, turn.origin, _prompt_tokens(turn.origin, used))
        store.counters(CACHED, turn.origin, (used and used.cached_input) or 0)
        store.counters(OUTPUT, turn.origin, (used and used.output) or 0)
        store.counters(COST, turn.origin, round((cost_of_turn(turn) or 0.0) * 1_000_000))
        for kind, count in hosted_uses(turn).items():
            store.counters(f"{HOSTED}{kind}", turn.origin, count)
        store.counters(HOSTED_COST, turn.origin, round(cost_of_uses(turn) * 1_000_000))


def _prompt_tokens(origin: Origin, used: Usage | None) -> int:
    if used is None:
        return 0
    apart = counts_cached_apart(origin.provider, origin.model)
    return (used.input or 0) + ((used.cached_input or 0) + (used.cache_write or 0) if apart else 0)


def usage_by_model(turns: Sequence[ModelTurn]) -> dict[str, Tokens]:
    by_model: dict[Origin, list[Usage | None]] = {}
    for turn in turns:
        by_model.setdefault(turn.origin, []).append(turn.usage)
    return {
        str(origin): Tokens(**msgspec.structs.asdict(total_usage(usages)))
        for origin, usages in by_model.items()
    }


def session_bars(counts: Any, width: int) -> list[str]:
    """The counters of one session, for /stats: by provider and model."""
    lines: list[str] = []
    for name in COUNTERS:
        rows = [
            (f"{provider}:{model}", number, f"{number:,}")
            for (counter, provider, model), number in sorted(counts.items())
            if counter == name
        ]
        if rows:
            lines += [NAMES[name], *(f"  {row}" for row in bars(rows, width - 2))]
    return lines
