"""Connections to PostgreSQL; its errors become `StoreError`s.

Every use is one statement, or one transaction, that may be repeated: when the connection is lost,
it runs again on a new one, until `PATIENCE` is over. So a restart of the server is only a pause.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from ...errors import StoreError

T = TypeVar("T")
Connection = psycopg.Connection[Any]

PATIENCE = 15.0
"""Seconds to wait for a server that is away before the store counts as failed."""
CONNECT = 3.0
LARGEST_POOL = 8

SETTINGS = {
    "application_name": "turnout",
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    # A process that is stopped in the middle of a transaction must not keep its locks for ever.
    "options": "-c search_path=turnout,public -c idle_in_transaction_session_timeout=10s",
    "client_encoding": "UTF8",
}
PASSING = ("08", "57P", "40001", "40P01", "53300", "25P03")
"""Beginnings of codes of errors that pass: lost connections, restarts, deadlocks, too many clients."""


class PostgresDatabase:
    """A pool of connections to one database, for all threads of one process."""

    def __init__(self, url: str, prepare: Callable[[Connection], None]) -> None:
        if (noisy := logging.getLogger("psycopg.pool")).level == logging.NOTSET:
            noisy.setLevel(logging.ERROR)  # it warns of each broken connection, which is replaced here
        self._url = url
        self._prepare = prepare
        self._pool: ConnectionPool[Connection] | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._prepared = False

    @property
    def address(self) -> str:
        """Where the database is, for people: without a password."""
        try:
            known = psycopg.conninfo.conninfo_to_dict(self._url)
        except psycopg.Error as error:
            raise StoreError(f"{error}; write the address as postgresql://user@host/database") from error
        user = f"{known['user']}@" if known.get("user") else ""
        port = f":{known['port']}" if known.get("port") else ""
        return f"postgresql://{user}{known.get('host', '')}{port}/{known.get('dbname', '')}"

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do work on a connection. It runs again when the connection was lost, so it must bear that."""
        ends = time.monotonic() + PATIENCE
        while True:
            pool = self._current_pool()
            try:
                with pool.connection(timeout=CONNECT) as connection:
                    return work(connection)
            except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
                if not _is_passing(error) or time.monotonic() > ends:
                    raise self._store_error(error) from error
                self._drop_pool(pool)
                time.sleep(0.05)
            except psycopg.Error as error:
                raise self._store_error(error) from error

    def connect(self) -> Connection:
        """A connection of its own, outside of the pool: for notifications."""
        try:
            return psycopg.connect(self._url, autocommit=True, **SETTINGS)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise self._store_error(error) from error

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and os.getpid() == self._process:
            pool.close(timeout=1.0)

    def _current_pool(self) -> ConnectionPool[Connection]:
        if os.getpid() != self._process:
            raise StoreError("a store cannot be used across a fork; open it again in the new process")
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._url,
                    kwargs={**SETTINGS, "autocommit": True},
                    min_size=0,
                    max_size=LARGEST_POOL,
                    timeout=CONNECT,
                    open=True,
                    name="turnout",
                )
            if not self._prepared:
                self._prepare_database(self._pool)
            return self._pool

    def _prepare_database(self, pool: ConnectionPool[Connection]) -> None:
        """Create or migrate the tables, once in a process."""
        try:
            with pool.connection(timeout=CONNECT) as connection:
                self._prepare(connection)
        except (psycopg.Error, PoolTimeout) as error:
            self._pool = None
            pool.close(timeout=0)
            raise self._store_error(error) from error
        self._prepared = True

    def _drop_pool(self, pool: ConnectionPool[Connection]) -> None:
        """Begin with new connections: after a restart all those of a pool are broken."""
        with self._lock:
            if self._pool is not pool:
                return
            self._pool = None
        with suppress(Exception):
            pool.close(timeout=0)

    def _store_error(self, error: Exception) -> StoreError:
        if isinstance(error, PoolTimeout):
            return StoreError(f"the store {self.address} does not answer; check that PostgreSQL runs there")
        text = " ".join(str(error).split()) or type(error).__name__
        return StoreError(f"the store {self.address} failed: {text}; check the server and try again")


def _is_passing(error: Exception) -> bool:
    """Whether a later attempt may succeed."""
    code = getattr(error, "sqlstate", None)
    return code is None or str(code).startswith(PASSING)
