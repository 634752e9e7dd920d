"""The telemetry counters in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

from ..ports import Count, CounterKey
from .database import Connection, PostgresDatabase

ADD = """
INSERT INTO counter VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (day, name, provider, model) DO UPDATE SET count = counter.count + excluded.count
"""
READ = "SELECT day, name, provider, model, count FROM counter WHERE day >= %s ORDER BY day DESC, name"


class PostgresCounters:
    """Counts by day, name, provider and model."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def add_counts(self, counts: Mapping[CounterKey, int]) -> None:
        rows = [(*key, count) for key, count in sorted(counts.items())]  # in one order: no deadlock

        def add_rows(connection: Connection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(ADD, rows)

        self._database.run(add_rows)

    def read_counts(self, since: str) -> list[Count]:
        rows = self._database.run(lambda connection: connection.execute(READ, (since,)).fetchall())
        return [Count(*row) for row in rows]
