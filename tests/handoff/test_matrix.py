"""The hand-off matrix: every hostile history and every recorded request, to every provider.

Under soak everything meets everything. Otherwise they meet diagonally: each history and each
recording comes up, each provider comes up, and TURNOUT_ROTATION says who meets whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from tests.corpus import ROTATION, SOAK, needs_corpus
from tests.handoff import recorded
from tests.handoff.histories import SCENARIOS
from tests.handoff.judges import complaints
from tests.handoff.places import MODELS, PLACES, THINKING

from turnout import History, render
from turnout.providers import PROVIDERS
from turnout.targets.target import Target

SHARDS = 8
TOOLS: tuple[Any, ...] = (
    None,  # the history's own
    (
        {
            "name": "read_file",
            "description": "Read a file.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "lines": {"type": ["integer", "null"]}},
                "required": ["path"],
                "additionalProperties": False,
            },
        },
        {"name": "server.tool with a name that some refuse"},
    ),
    (),
)
Meeting = tuple[Target, bool | None, Any]


def whole() -> Iterator[Meeting]:
    return product(PLACES, THINKING, TOOLS)


def everywhere(at: int) -> Iterator[Meeting]:
    """Every place, thinking or not; tools in turn, so that all of them come up over the recordings."""
    for turn, (place, thinking) in enumerate(product(PLACES, THINKING)):
        yield place, thinking, TOOLS[(at + turn) % 3]


def few(at: int) -> Iterator[Meeting]:
    """Three meetings, far apart: neighbours go to different places, and all places get some."""
    for step, thinking in enumerate(THINKING):
        turn = at + ROTATION + step * 29
        yield PLACES[turn % len(PLACES)], thinking, TOOLS[(turn // len(PLACES) + step) % 3]


def each_provider(at: int) -> Iterator[Meeting]:
    """One model of every provider, another one for the next history."""
    for offset, (provider, models) in enumerate(MODELS.items()):
        turn = at + offset + ROTATION
        place = _place(provider, models[turn % len(models)])
        yield place, THINKING[(turn // len(models)) % 3], TOOLS[(turn + offset) % 3]


def _place(provider: str, model: str) -> Target:
    name, _, endpoint = provider.partition("@")
    return next(
        place
        for place in PLACES
        if (place.provider.name, place.origin.endpoint, place.model) == (name, endpoint, model)
    )


def refused(name: str, history: History, meetings: Iterator[Meeting]) -> list[str]:
    """Who would refuse this history, and why."""
    lines = []
    for place, thinking, tools in meetings:
        options = {} if tools is None else {"tools": tools}
        request = render(history, place, thinking=thinking, stream=bool(thinking), **options)
        lines += [
            f"{name} -> {place.origin} (thinking {thinking}): {line}" for line in complaints(request, place)
        ]
    return lines


def _shard(items: Sequence[Any], shard: int) -> Sequence[tuple[int, Any]]:
    return list(enumerate(items))[shard::SHARDS]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_hostile_history_is_taken_by_every_provider(shard: int) -> None:
    """Our checkers, the vendors' types and Mistral's validator find nothing, thinking or not."""
    found: list[str] = []
    for at, name in _shard(list(SCENARIOS), shard):
        found += refused(name, SCENARIOS[name](), whole() if SOAK else each_provider(at))
    assert found == []


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_recorded_request_is_taken_wherever_it_is_handed(shard: int) -> None:
    """What one provider was asked, another can be asked."""
    found: list[str] = []
    for at, exchange in _shard(recorded.requests(), shard):
        meetings = everywhere(at) if SOAK else few(at)
        found += refused(exchange.id, recorded.history(exchange), meetings)
    assert found == []


@pytest.mark.parametrize("rotation", range(3))
def test_a_share_leaves_nobody_out(rotation: int) -> None:
    """In every rotation, every provider meets every history, and recordings reach every place."""
    for at in range(len(SCENARIOS)):
        met = {place.provider.name for place, _, _ in each_provider(at + rotation)}
        assert met == set(PROVIDERS)
    met_few = {place.origin for at in range(len(PLACES)) for place, _, _ in few(at + rotation)}
    assert met_few == {place.origin for place in PLACES}
