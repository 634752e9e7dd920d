"""The telemetry counters in SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ports import Count, CounterKey
from .database import Database

ADD = """
INSERT INTO counter VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""
READ = "SELECT day, name, provider, model, count FROM counter WHERE day >= ? ORDER BY day DESC, name"


class SqliteCounters:
    """Counts by day, name, provider and model."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_counts(self, counts: Mapping[CounterKey, int]) -> None:
        with self._database.write_transaction(durable=False) as connection:
            connection.executemany(ADD, [(*key, count) for key, count in counts.items()])

    def read_counts(self, since: str) -> list[Count]:
        with self._database.read_connection() as connection:
            rows: list[Any] = connection.execute(READ, (since,)).fetchall()
        return [Count(*row) for row in rows]
