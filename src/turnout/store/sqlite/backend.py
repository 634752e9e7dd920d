"""The parts of a store in one SQLite file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import apsw

from .. import holder as holders
from ..signals import PollingSignals
from .catalogue import SqliteCatalog
from .counter_table import SqliteCounters
from .database import Connect
from .log import SqliteLog
from .requests import SqliteCancels, SqliteWaiting
from .search import SqliteWords

POLL = 0.02
"""Seconds between two looks of a watcher."""


class SqliteBackend:
    """A store in one file, shared by all processes of the machine."""

    kind: Literal["sqlite", "postgresql"] = "sqlite"

    def __init__(
        self,
        path: Path,
        *,
        wall_clock: Callable[[], float],
        clock: Callable[[], float] = holders.clock,
        connect: Connect = apsw.Connection,
    ) -> None:
        self.path = path
        self.address = str(path)
        self.log = SqliteLog(path, wall_clock=wall_clock, clock=clock, connect=connect)
        database = self.log.database
        self.drafts = self.log
        self.catalog = SqliteCatalog(self.log)
        self.words = SqliteWords(database)
        self.counter_table = SqliteCounters(database)
        self.cancels = SqliteCancels(database)
        self.waiting_calls = SqliteWaiting(database)
        self.signals = PollingSignals(POLL)

    def check(self) -> list[str]:
        """The faults that SQLite finds in the file."""
        with self.log.database.read_connection() as connection:
            rows: Any = connection.execute("PRAGMA integrity_check").fetchall()
        return [text for (text,) in rows if text != "ok"]

    def rest(self) -> None:
        """Close the file; the next use opens it again."""
        self.log.close()

    def close(self) -> None:
        self.log.close()
