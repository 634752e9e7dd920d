"""Operations on whole sessions in SQLite: list, rename, delete.

The subagents of a session are deleted with it. An open session is never deleted.
"""

from __future__ import annotations

from typing import Any

import apsw

from ...errors import SessionHeld, UsageError
from .. import holder as holders
from ..ports import SessionSummary
from . import schema
from .log import LINE, SqliteLog

FAMILY = """
WITH RECURSIVE family(id, number) AS (
    SELECT id, number FROM session WHERE id = ?
    UNION SELECT s.id, s.number FROM session s JOIN family f ON s.parent = f.id AND s.parent <> ''
) SELECT id, number FROM family
"""


class SqliteCatalog:
    """The list of sessions, and operations on whole sessions."""

    def __init__(self, log: SqliteLog) -> None:
        self._log = log
        self._database = log.database

    def lines(self, limit: int | None, *, subagents: bool) -> list[SessionSummary]:
        return self._log.list(limit) if subagents else self._list_where("parent = ''", (), limit)

    def children(self, id: str) -> list[SessionSummary]:
        return self._list_where("parent = ?", (id,), None)

    def _list_where(self, condition: str, values: tuple[str, ...], limit: int | None) -> list[SessionSummary]:
        query = f"SELECT {LINE} FROM session WHERE {condition} ORDER BY updated DESC, number DESC LIMIT ?"
        with self._database.read_connection() as connection:
            rows: list[Any] = connection.execute(query, (*values, -1 if limit is None else limit)).fetchall()
        return [self._log.summary(row) for row in rows]

    def rename(self, id: str, title: str) -> None:
        """Give a session a title that the user chose."""
        with self._database.write_transaction() as connection:
            connection.execute("UPDATE session SET title = ? WHERE id = ?", (title, id))
            if not connection.changes():
                raise UsageError(f"there is no session {id!r}; `turnout sessions` lists all")

    def delete(self, id: str) -> list[str]:
        """Delete a session and its subagents, all or none; returns the deleted ids."""
        with self._database.write_transaction() as connection:
            family: list[Any] = connection.execute(FAMILY, (id,)).fetchall()
            if not family:
                raise UsageError(f"there is no session {id!r}; `turnout sessions` lists all")
            for member, _ in family:
                if (who := self._log.holder_of(connection, member)) is not None:
                    raise SessionHeld(
                        f"session {member} is open in {holders.describe_holder(who)}; close it there first",
                        who,
                    )
            for _, number in family:
                _delete_rows(connection, number)
            connection.execute(
                "INSERT INTO words (words) VALUES ('optimize')"
            )  # removes the deleted words from the index file
        return [member for member, _ in family]

    def vacuum(self) -> None:
        """Return free pages to the file system."""
        with self._database.read_connection() as connection:
            connection.execute("PRAGMA incremental_vacuum").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _delete_rows(connection: apsw.Connection, number: int) -> None:
    places = (number * schema.ROOM, (number + 1) * schema.ROOM - 1)
    connection.execute("DELETE FROM words WHERE rowid BETWEEN ? AND ?", places)
    connection.execute("DELETE FROM entry WHERE number BETWEEN ? AND ?", places)
    for table in ("draft", "cancel_request", "waiting_call"):
        connection.execute(f"DELETE FROM {table} WHERE session = ?", (number,))
    connection.execute("DELETE FROM session WHERE number = ?", (number,))
