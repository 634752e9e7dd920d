"""The telemetry counters over time: by day, provider and model."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..model import Origin
from .sqlite.database import Database

ADD = """
INSERT INTO counter VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""
READ = "SELECT day, name, provider, model, count FROM counter WHERE day >= ? ORDER BY day DESC, name"


class Count(Struct, frozen=True):
    """How often something happened on one day."""

    day: str
    name: str
    provider: str
    model: str
    count: int


class Counters:
    """Counts in memory, and adds to the store from time to time; a sink for `Telemetry`."""

    def __init__(self, database: Database, wall_clock: Callable[[], float]) -> None:
        self._database = database
        self._wall_clock = wall_clock
        self._waiting: Counter[tuple[str, str, str, str]] = Counter()

    def __call__(self, name: str, origin: Origin, by: int) -> None:
        day = time.strftime("%Y-%m-%d", time.gmtime(self._wall_clock()))
        self._waiting[day, name, origin.provider, origin.model] += by

    def flush(self) -> None:
        """Add the counts to the store."""
        if not self._waiting:
            return
        counted, self._waiting = self._waiting, Counter()
        try:
            with self._database.write_transaction(durable=False) as connection:
                connection.executemany(ADD, [(*key, count) for key, count in counted.items()])
        except BaseException:
            self._waiting.update(counted)
            raise

    def read(self, since: str = "") -> list[Count]:
        """The counts since a day, latest first."""
        self.flush()
        with self._database.read_connection() as connection:
            rows: list[Any] = connection.execute(READ, (since,)).fetchall()
        return [Count(*row) for row in rows]
