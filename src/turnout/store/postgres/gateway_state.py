"""What several gateways share: the state that clients cannot carry, and what each key of a client has used.

Both are bounded: the oldest states go first, and usage is one row for each key and day.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..client_usage import ClientUsage, UsageByDay, day_of
from .database import Connection, PostgresDatabase
from .schema import prepare_schema

PRUNE_EVERY = 500
"""States that one process writes between two looks at the limit."""
REMEMBER = """
INSERT INTO gateway_state (conversation, name, size, state) VALUES (%s, %s, %s, %s)
ON CONFLICT (conversation, name) DO UPDATE
SET at = clock_timestamp(), size = excluded.size, state = excluded.state
"""
RECALL = "SELECT name, state FROM gateway_state WHERE conversation = %s"
RECALL_ONE = RECALL + " AND name = %s"
# Of two gateways that prune at the same time the second finds the rows gone, or waits for them: in one order.
PRUNE = """
DELETE FROM gateway_state WHERE (conversation, name) IN (
    SELECT conversation, name FROM (
        SELECT conversation, name, sum(size) OVER (ORDER BY at DESC, conversation, name) AS newer
        FROM gateway_state
    ) summed WHERE newer > %s
)
"""
SIZE = "SELECT coalesce(sum(size), 0) FROM gateway_state"
ADD_USAGE = """
INSERT INTO gateway_usage VALUES (%s, %s, %s, %s, %s) ON CONFLICT (client, day) DO UPDATE
SET requests = gateway_usage.requests + excluded.requests, tokens = gateway_usage.tokens + excluded.tokens,
    cost = gateway_usage.cost + excluded.cost
"""
READ_USAGE = """
SELECT coalesce(sum(requests), 0)::bigint, coalesce(sum(tokens), 0)::bigint, coalesce(sum(cost), 0)
FROM gateway_usage WHERE client = %s AND day >= %s
"""


class PostgresGatewayState:
    """The tables of the gateways in one database. `limit` is for the bytes of all states."""

    def __init__(self, url: str, limit: int) -> None:
        self._database = PostgresDatabase(url, prepare_schema)
        self._limit = limit
        self._written = 0
        self.address = self._database.address

    def remember(self, conversation: str, name: str, state: bytes) -> None:
        """Keep a state, in place of an earlier one of this name."""
        values = (conversation, name, len(state), state)
        self._database.run(lambda connection: connection.execute(REMEMBER, values))
        self._written += 1
        if self._written >= PRUNE_EVERY:
            self._written = 0
            self.prune()

    def recall(self, conversation: str) -> dict[str, bytes]:
        """All states of a conversation by their names."""
        rows = self._database.run(lambda each: each.execute(RECALL, (conversation,)).fetchall())
        return dict(rows)

    def recall_one(self, conversation: str, name: str) -> bytes | None:
        rows = self._database.run(lambda each: each.execute(RECALL_ONE, (conversation, name)).fetchall())
        return rows[0][1] if rows else None

    def prune(self) -> None:
        """Delete the oldest states beyond the limit, and a quarter more, so that this is rare."""
        row = self._database.run(lambda connection: connection.execute(SIZE).fetchone())
        if row is not None and row[0] > self._limit:
            self._database.run(lambda connection: connection.execute(PRUNE, (self._limit * 3 // 4,)))

    def add_usage(self, used: UsageByDay) -> None:
        """Add what clients have used, all or none."""
        rows = [
            (client, day, each.requests, each.tokens, each.cost)
            for (client, day), each in sorted(used.items())  # in one order: no deadlock
        ]

        def add_rows(connection: Connection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(ADD_USAGE, rows)

        self._database.run(add_rows)

    def read_usage(self, periods: Sequence[tuple[str, float]]) -> list[ClientUsage]:
        """What each of these clients has used since a time, at all gateways."""

        def read_rows(connection: Connection) -> list[ClientUsage]:
            asked = [(client, day_of(since)) for client, since in periods]
            rows = [connection.execute(READ_USAGE, values).fetchone() for values in asked]
            return [ClientUsage(*row) for row in rows if row is not None]

        return self._database.run(read_rows)

    def close(self) -> None:
        self._database.close()
