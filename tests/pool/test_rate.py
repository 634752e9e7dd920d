"""The rate of requests: no minute has more than the limit, for all or by name."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout import Origin, UsageError
from turnout.pool.rate import RateLimit, RateLimits


@given(st.floats(0.5, 1000), st.lists(st.floats(0, 30), min_size=2, max_size=60))
def test_requests_are_spaced(rate: float, gaps: list[float]) -> None:
    """Whenever they are asked for, two starts are at least a minute divided by the rate apart."""
    limit, now, starts = RateLimit(rate), 0.0, []
    for gap in gaps:
        now += gap
        starts.append(now + limit.reserve(now))
    assert all(b - a >= 60 / rate - 1e-6 for a, b in pairwise(starts))
    assert starts[0] == gaps[0]  # the first one does not wait


def test_limits_by_name() -> None:
    """A provider or a target has its own; others are not held up by it."""
    limits = RateLimits({"openai": 60, "anthropic:claude-sonnet-5": 1})
    openai, claude, other = (
        Origin.parse(name) for name in ("openai:gpt-5.2", "anthropic:claude-sonnet-5", "xai:grok-4")
    )
    assert [limits.reserve(openai, 0.0) for _ in range(3)] == [0.0, 1.0, 2.0]
    assert [limits.reserve(claude, 0.0) for _ in range(2)] == [0.0, 60.0]
    assert [limits.reserve(other, 0.0) for _ in range(2)] == [0.0, 0.0]


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_must_send_something(rate: float) -> None:
    """Zero would wait for ever."""
    with pytest.raises(UsageError, match="above 0"):
        RateLimits(rate)
