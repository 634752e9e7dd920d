"""PostgreSQL's notifications: one thread and one connection of a process listen for all its watchers.

A session is marked as watched while someone watches it. Only then its appends notify: a notification
in a transaction makes commits wait for each other, and most sessions have no watcher.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import psycopg

from ...errors import StoreError, UsageError
from .database import Connection, PostgresDatabase
from .log import CHANNEL

MARKED = 60
"""Seconds that a session stays marked as watched; the mark is renewed well before."""
MARK = f"""
UPDATE session SET watched = clock_timestamp() + interval '{MARKED} s' WHERE id = ANY(%s) RETURNING id, number
"""

Wake = Callable[[], None]


class PostgresListener:
    """Wakes watchers of sessions, and those who wait for requests to cancel."""

    every = 2.0

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._watchers: dict[int, tuple[str, int, Wake]] = {}  # key: session, its number, whom to wake
        self._cancel_watchers: dict[int, Wake] = {}
        self._next = 0
        self._thread: threading.Thread | None = None
        self._listening = threading.Event()

    def listen(self, session: str, wake: Wake) -> Callable[[], None]:
        number = self._mark_sessions([session]).get(session)
        if number is None:
            raise UsageError(f"there is no session {session!r}; `turnout sessions` lists all")
        with self._lock:
            key = self._new_key()
            self._watchers[key] = (session, number, wake)
        self._listening.wait(5.0)
        return lambda: self._forget_watcher(key)

    def listen_for_cancels(self, wake: Wake) -> Callable[[], None]:
        with self._lock:
            key = self._new_key()
            self._cancel_watchers[key] = wake
        self._listening.wait(5.0)
        return lambda: self._forget_watcher(key)

    def _new_key(self) -> int:
        self._next += 1
        if self._thread is None:
            self._listening.clear()
            self._thread = threading.Thread(target=self._work, name="turnout-listen", daemon=True)
            self._thread.start()
        return self._next

    def _forget_watcher(self, key: int) -> None:
        with self._lock:
            self._watchers.pop(key, None)
            self._cancel_watchers.pop(key, None)

    def _mark_sessions(self, sessions: list[str]) -> dict[str, int]:
        rows = self._database.run(lambda connection: connection.execute(MARK, (sessions,)).fetchall())
        return dict(rows)

    def _work(self) -> None:
        while True:
            try:
                with self._database.connect() as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    self._listening.set()
                    self._wake_all()  # what came before this is read from the tables
                    if self._pass_notices(connection):
                        return
            except (psycopg.Error, StoreError):  # the server is away; watchers look by themselves meanwhile
                time.sleep(0.2)
                if self._ends():
                    return

    def _pass_notices(self, connection: Connection) -> bool:
        """Pass notifications on; True when there is no listener left."""
        marked = time.monotonic()
        while not self._ends():
            for notice in connection.notifies(timeout=1.0, stop_after=1):
                self._pass_on(notice.payload)
            if time.monotonic() - marked > MARKED / 3:
                marked = time.monotonic()
                with self._lock:
                    sessions = [session for session, _, _ in self._watchers.values()]
                with suppress(StoreError):
                    self._mark_sessions(sessions)
        return True

    def _pass_on(self, payload: str) -> None:
        with self._lock:
            wanted = [wake for _, each, wake in self._watchers.values() if payload == f"e {each}"]
            wanted += self._cancel_watchers.values() if payload[:1] == "c" else ()
        for wake in wanted:
            wake()

    def _wake_all(self) -> None:
        with self._lock:
            wanted = [*(wake for _, _, wake in self._watchers.values()), *self._cancel_watchers.values()]
        for wake in wanted:
            wake()

    def _ends(self) -> bool:
        with self._lock:
            if self._watchers or self._cancel_watchers:
                return False
            self._thread = None
            return True
