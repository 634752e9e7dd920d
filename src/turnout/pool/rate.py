"""How often requests may be sent: evenly spaced, so that no minute has more than the limit. No IO."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import UsageError
from ..model import Origin

Rates = float | Mapping[str, float] | None
"""Requests a minute: for all together, or by provider or target."""


class RateLimit:
    """At most so many requests a minute."""

    def __init__(self, per_minute: float) -> None:
        if not per_minute > 0:
            raise UsageError(f"a rate of {per_minute} requests a minute sends nothing; give a number above 0")
        self._interval = 60.0 / per_minute
        self._next = 0.0

    def reserve(self, now: float) -> float:
        """Take the next free moment; the seconds until then."""
        start = max(now, self._next)
        self._next = start + self._interval
        return start - now


class RateLimits:
    """The limits that hold for each target."""

    def __init__(self, rates: Rates) -> None:
        self._for_all = RateLimit(rates) if isinstance(rates, int | float) else None
        named = rates if isinstance(rates, Mapping) else {}
        self._by_name = {name: RateLimit(rate) for name, rate in named.items()}

    def reserve(self, origin: Origin, now: float) -> float:
        """Take the next moment at which every limit allows a request; the seconds until then."""
        limits = [self._by_name.get(name) for name in (origin.provider, str(origin))]
        return max(
            [limit.reserve(now) for limit in (self._for_all, *limits) if limit is not None], default=0.0
        )
