"""The parts of a store in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ...errors import UsageError

try:
    from .database import PostgresDatabase
except ModuleNotFoundError as error:
    raise UsageError(
        "a store in PostgreSQL needs psycopg, which is not installed: pip install 'turnout[postgres]'"
    ) from error
from .catalogue import PostgresCatalog
from .counter_table import PostgresCounters
from .gateway_state import PostgresGatewayState
from .listener import PostgresListener
from .log import PostgresLog
from .requests import PostgresCancels, PostgresWaiting
from .schema import prepare_schema
from .search import PostgresWords

SPARSE = """
SELECT s.id FROM session s LEFT JOIN (
    SELECT session, count(*) AS count, max(place) AS last FROM entry GROUP BY session
) e ON e.session = s.number
WHERE coalesce(e.count, 0) <> s.length OR coalesce(e.last, 0) <> s.length
"""
UNSAFE = """
SELECT name FROM pg_settings
WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
"""


class PostgresBackend:
    """A store in PostgreSQL, shared by all processes of all machines that reach it."""

    kind: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, url: str, *, wall_clock: Callable[[], float] | None = None) -> None:
        self.url = url
        self.database = PostgresDatabase(url, prepare_schema)
        self.address = self.database.address
        self.log = PostgresLog(self.database, wall_clock)
        self.drafts = self.log
        self.catalog = PostgresCatalog(self.log)
        self.words = PostgresWords(self.database)
        self.counter_table = PostgresCounters(self.database)
        self.cancels = PostgresCancels(self.database)
        self.waiting_calls = PostgresWaiting(self.database)
        self.signals = PostgresListener(self.database)

    def check(self) -> list[str]:
        """Sessions whose entries have gaps, and settings of the server that may lose entries."""

        sparse = self.database.run(lambda connection: connection.execute(SPARSE).fetchall())
        unsafe = self.database.run(lambda connection: connection.execute(UNSAFE).fetchall())
        return [f"session {id}: entries are missing" for (id,) in sparse] + [
            f"the server runs with {name} = off: a power cut may lose entries" for (name,) in unsafe
        ]

    def rest(self) -> None:
        """Keep the connections: opening them again costs more than they do."""

    def close(self) -> None:
        self.database.close()


def open_gateway_state(url: str, limit: int) -> PostgresGatewayState:
    """What gateways share in this database; `limit` is for its bytes. Connections are opened on first use."""
    return PostgresGatewayState(url, limit)
