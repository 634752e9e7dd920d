"""What a session spent is counted once, reply by reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from hypothesis import given
from hypothesis import strategies as st

from turnout import ModelTurn, Origin, Text, Usage
from turnout.providers.cost import Spending, cost_of


class Watched(Sequence[ModelTurn]):
    """A list of replies that counts how often one was looked at."""

    def __init__(self) -> None:
        self.turns: list[ModelTurn] = []
        self.looks = 0

    def __len__(self) -> int:
        return len(self.turns)

    @overload
    def __getitem__(self, at: int) -> ModelTurn: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ModelTurn]: ...
    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return self.turns[at]


def reply(number: int, tokens: int) -> ModelTurn:
    return ModelTurn(f"t{number}", Origin("openai", "", "gpt-5.1"), (Text("so"),), usage=Usage(input=tokens))


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30))
def test_a_limit_is_reached_when_the_sum_reaches_it(counts: list[int]) -> None:
    """Asked after every reply, and twice: tokens and money are those of all replies so far."""
    turns = Watched()
    spending = Spending(turns)
    for number, tokens in enumerate(counts):
        turns.turns.append(reply(number, tokens))
        used, spent = sum(counts[: number + 1]), cost_of(turns.turns) or 0.0
        for _ in range(2):
            assert spending.reached_limit(tokens=used + 1, cost=None) is None
            assert str(used) in (spending.reached_limit(tokens=used, cost=None) or "")
            assert spending.reached_limit(tokens=None, cost=spent * 1.01) is None
            assert spending.reached_limit(tokens=None, cost=spent * 0.99)
    assert turns.looks <= 2 * len(counts)  # for its tokens and for its price
