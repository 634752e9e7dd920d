"""A request that is valid because history was dropped is a failure: everything said is still there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.corpus import SOAK, needs_corpus
from tests.handoff import recorded
from tests.handoff.fidelity import losses
from tests.handoff.histories import SCENARIOS
from tests.handoff.test_matrix import SHARDS, Meeting, _shard, each_provider, everywhere, few, whole

from turnout import History, render


def lost(name: str, history: History, meetings: Iterator[Meeting]) -> list[str]:
    lines = []
    for place, thinking, tools in meetings:
        options = {} if tools is None else {"tools": tools}
        request = render(history, place, thinking=thinking, **options)
        found = losses(history, request, place, thinking)
        lines += [f"{name} -> {place.origin} (thinking {thinking}): {line}" for line in found]
    return lines


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_hostile_history_is_told_whole(shard: int) -> None:
    """No request of a scenario loses, repeats or invents a part of its history, at any provider."""
    found: list[str] = []
    for at, name in _shard(list(SCENARIOS), shard):
        found += lost(name, SCENARIOS[name](), whole() if SOAK else each_provider(at))
    assert found == []


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_recorded_conversation_is_told_whole(shard: int) -> None:
    """The same holds for conversations that were recorded with real providers."""
    found: list[str] = []
    for at, exchange in _shard(recorded.requests(), shard):
        found += lost(exchange.id, recorded.history(exchange), everywhere(at) if SOAK else few(at))
    assert found == []
