"""What a client's key has used at the gateways, counted by day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from msgspec import Struct


class ClientUsage(Struct, frozen=True):
    """Requests, tokens and US dollars."""

    requests: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: ClientUsage) -> ClientUsage:
        return ClientUsage(self.requests + other.requests, self.tokens + other.tokens, self.cost + other.cost)


UsageByDay: TypeAlias = Mapping[tuple[str, str], ClientUsage]
"""By the name of the client's key, and the day in UTC."""


def day_of(time: float) -> str:
    """The day of a Unix time, in UTC."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")
