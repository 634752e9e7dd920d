"""The telemetry counters over time: by day, provider and model."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from ..model import Origin
from .ports import Count, CounterKey, CounterTable

__all__ = ["Count", "Counters"]


class Counters:
    """Counts in memory, and adds to the store from time to time; a sink for `Telemetry`."""

    def __init__(self, table: CounterTable, wall_clock: Callable[[], float]) -> None:
        self._table = table
        self._wall_clock = wall_clock
        self._waiting: Counter[CounterKey] = Counter()

    def __call__(self, name: str, origin: Origin, by: int) -> None:
        day = time.strftime("%Y-%m-%d", time.gmtime(self._wall_clock()))
        self._waiting[day, name, origin.provider, origin.model] += by

    def flush(self) -> None:
        """Add the counts to the store."""
        if not self._waiting:
            return
        counted, self._waiting = self._waiting, Counter()
        try:
            self._table.add_counts(counted)
        except BaseException:
            self._waiting.update(counted)
            raise

    def read(self, since: str = "") -> list[Count]:
        """The counts since a day, latest first."""
        self.flush()
        return self._table.read_counts(since)
