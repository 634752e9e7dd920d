"""An upgrade of a store that dies at its n-th statement. A program: `migrating STORE N` (0: it lives)."""

from __future__ import annotations

import os
import signal
import sys

import apsw

from turnout.store import Store
from turnout.store.sqlite import schema


def better(connection: apsw.Connection) -> None:
    """A version 2 that touches everything: a new column, and every entry in a new table."""
    connection.execute("ALTER TABLE session ADD COLUMN mood TEXT NOT NULL DEFAULT 'fine'")
    connection.execute(
        "CREATE TABLE entry2 (number INTEGER PRIMARY KEY, id TEXT NOT NULL, at REAL NOT NULL, data BLOB)"
    )
    connection.execute("INSERT INTO entry2 SELECT * FROM entry")
    connection.execute("DROP TABLE entry")
    connection.execute("ALTER TABLE entry2 RENAME TO entry")


def worse(connection: apsw.Connection) -> None:
    """A version 2 that loses an entry."""
    better(connection)
    connection.execute("DELETE FROM entry WHERE number = (SELECT max(number) FROM entry)")


def as_version_2(step: schema.Step) -> None:
    schema.VERSION, schema.STEPS = 2, {1: step}


def dying(number: int) -> None:
    """Every connection of this process counts its statements, and the n-th is its last."""
    left = number

    def trace(cursor: object, statement: str, bindings: object) -> bool:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(trace))


if __name__ == "__main__":
    as_version_2(better)
    dying(int(sys.argv[2]))
    with Store(sys.argv[1], heartbeat=False) as store:
        store.list()
