"""What the gateway remembers in a file: the state that clients cannot carry, responses, one row a request.

All of it is bounded: the oldest goes first. The file is private, beside the store of sessions, and can
be deleted at any time: what is lost is reasoning of old replies, not a conversation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ...errors import StoreError
from ...world.places import private_folder
from .request_columns import add_request_columns

MAX_REQUESTS = 100_000
PRUNE_EVERY = 500
"""Rows that are written between two looks at the limits."""
SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS states (
    conversation TEXT, name TEXT, state BLOB, PRIMARY KEY (conversation, name)
);
CREATE TABLE IF NOT EXISTS responses (id TEXT PRIMARY KEY, items BLOB);
CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, client TEXT, began REAL, cost REAL, tokens INTEGER,
    record BLOB, bodies BLOB
);
CREATE INDEX IF NOT EXISTS requests_of_client ON requests (client, began);
"""


class GatewayMemory:
    """One SQLite file. Requests are written in batches, the state of a reply at once."""

    def __init__(
        self, path: Path | str, limit: int = 256 * 1024 * 1024, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self.path = Path(path)
        self._limit = limit
        self._wall_clock = wall_clock
        private_folder(self.path.parent)
        try:
            existed = self.path.exists()
            if not existed:
                self.path.touch(mode=0o600)
            self._connection = apsw.Connection(str(self.path))
            self._connection.set_busy_timeout(2000)
            for _ in self._connection.execute(SCHEMA):
                pass
            add_request_columns(self._connection)
        except (apsw.Error, OSError) as error:
            raise StoreError(
                f"{self.path} cannot be used as the gateway's memory: {error}; move the file away"
            ) from error
        self._rows: list[tuple[Any, ...]] = []
        self._written = 0

    # State of replies

    def remember(self, conversation: str, name: str, state: bytes) -> None:
        sql = "INSERT OR REPLACE INTO states VALUES (?, ?, ?)"
        self._write_rows(sql, [(conversation, name, state)])

    def recall(self, conversation: str) -> dict[str, bytes]:
        """All states of a conversation by their names."""
        rows = self._read_rows("SELECT name, state FROM states WHERE conversation = ?", (conversation,))
        return dict(rows)

    # Responses that a client may continue by their ids

    def keep_response(self, id: str, items: bytes) -> None:
        self._write_rows("INSERT OR REPLACE INTO responses VALUES (?, ?)", [(id, items)])

    def response(self, id: str) -> bytes | None:
        rows = self._read_rows("SELECT items FROM responses WHERE id = ?", (id,))
        return rows[0][0] if rows else None

    # Requests

    def add_request(self, record: dict[str, Any], bodies: bytes | None = None) -> None:
        """Keep the record of a request; it is written with the next batch."""
        row = (
            record["id"],
            record["client"],
            record["time"],
            record["cost"],
            record["tokens"],
            msgspec.json.encode(record),
            bodies,
        )
        self._rows.append(row)
        if len(self._rows) >= 100:
            self.flush()

    def flush(self) -> None:
        """Write the requests that wait."""
        rows, self._rows = self._rows, []
        if rows:
            sql = (
                "INSERT OR REPLACE INTO requests (id, client, began, cost, tokens, record, bodies) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)"
            )
            self._write_rows(sql, rows)

    def request(self, id: str) -> tuple[dict[str, Any], Any] | None:
        """The record of one request, and its bodies where they were kept."""
        self.flush()
        rows = self._read_rows("SELECT record, bodies FROM requests WHERE id = ?", (id,))
        if not rows:
            return None
        record, bodies = rows[0]
        return msgspec.json.decode(record), msgspec.json.decode(bodies) if bodies else None

    def requests(self, limit: int = 100, before: float | None = None) -> list[dict[str, Any]]:
        """The records of the latest requests, latest first."""
        self.flush()
        sql = "SELECT record FROM requests WHERE began < ? ORDER BY number DESC LIMIT ?"
        rows = self._read_rows(sql, (float("inf") if before is None else before, limit))
        return [msgspec.json.decode(record) for (record,) in rows]

    def usage_of(self, client: str, since: float) -> tuple[int, int, float]:
        """Requests, tokens and US dollars of a client since a time."""
        self.flush()
        sql = "SELECT count(*), total(tokens), total(cost) FROM requests WHERE client = ? AND began >= ?"
        ((count, tokens, cost),) = self._read_rows(sql, (client, since))
        return count, int(tokens), cost

    def close(self) -> None:
        self.flush()
        self._connection.close()

    # How it is written

    def _write_rows(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        """Write, or give up: a full disk must not end a reply."""
        try:
            with self._connection:
                self._connection.executemany(sql, rows)
            self._written += len(rows)
            if self._written >= PRUNE_EVERY:
                self._written = 0
                self.prune()
        except apsw.Error:
            return

    def _read_rows(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return list(self._connection.execute(sql, values))
        except apsw.Error:
            return []

    def prune(self) -> None:
        """Delete the oldest rows beyond the limits."""
        run = self._connection.execute
        run("DELETE FROM requests WHERE number <= (SELECT max(number) FROM requests) - ?", (MAX_REQUESTS,))
        ((pages,), (free,), (size,)) = (
            next(run(f"PRAGMA {name}")) for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size > self._limit:
            for table in ("states", "responses"):
                run(
                    f"DELETE FROM {table} WHERE rowid IN "
                    f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT (SELECT count(*) / 4 + 1 FROM {table}))"
                )
            run("UPDATE requests SET bodies = NULL WHERE number <= (SELECT max(number) FROM requests) - 1000")
