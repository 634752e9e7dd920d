"""Sessions as things: listed, renamed, deleted, pruned by age and size.

A session's subagents are deleted with it. What someone has open is never deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from ..errors import SessionHeld, UsageError
from . import holder as holders
from .ports import Summary
from .sqlite import schema
from .sqlite.log import LINE, SqliteLog

FAMILY = """
WITH RECURSIVE family(id, number) AS (
    SELECT id, number FROM session WHERE id = ?
    UNION SELECT s.id, s.number FROM session s JOIN family f ON s.parent = f.id AND s.parent <> ''
) SELECT id, number FROM family
"""


class Catalog:
    """The list of sessions, and what is done to whole ones."""

    def __init__(self, log: SqliteLog) -> None:
        self._log = log
        self._database = log.database

    def lines(self, limit: int | None, *, subagents: bool) -> list[Summary]:
        return self._log.list(limit) if subagents else self._lines("parent = ''", (), limit)

    def children(self, id: str) -> list[Summary]:
        return self._lines("parent = ?", (id,), None)

    def _lines(self, condition: str, values: tuple[str, ...], limit: int | None) -> list[Summary]:
        asked = f"SELECT {LINE} FROM session WHERE {condition} ORDER BY updated DESC, number DESC LIMIT ?"
        with self._database.reading() as connection:
            rows: list[Any] = connection.execute(asked, (*values, -1 if limit is None else limit)).fetchall()
        return [self._log.summary(row) for row in rows]

    def rename(self, id: str, title: str) -> None:
        """Give a session a title of the user's."""
        with self._database.writing() as connection:
            connection.execute("UPDATE session SET title = ? WHERE id = ?", (title, id))
            if not connection.changes():
                raise UsageError(f"there is no session {id!r}; `turnout sessions` lists those there are")

    def delete(self, id: str) -> list[str]:
        """Delete a session and its subagents, all or none; the ids of what is gone."""
        with self._database.writing() as connection:
            family: list[Any] = connection.execute(FAMILY, (id,)).fetchall()
            if not family:
                raise UsageError(f"there is no session {id!r}; `turnout sessions` lists those there are")
            for member, _ in family:
                if (who := self._log.held(connection, member)) is not None:
                    raise SessionHeld(
                        f"session {member} is open in {holders.named(who)}; close it there first", who
                    )
            for _, number in family:
                _delete(connection, number)
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")  # forget the words as well
        return [member for member, _ in family]

    def prune(
        self, now: float, older_than: float | None, larger_than: int | None, dry_run: bool
    ) -> list[Summary]:
        """Delete what is old, then the oldest until the rest is small enough; what was deleted."""
        chosen = list(self._chosen(now, older_than, larger_than))
        if dry_run:
            return chosen
        gone = []
        for summary in chosen:
            try:
                self.delete(summary.id)
            except (SessionHeld, UsageError):  # opened or deleted meanwhile: not ours to take
                continue
            gone.append(summary)
        self._shrink()
        return gone

    def _chosen(self, now: float, older_than: float | None, larger_than: int | None) -> Iterator[Summary]:
        sizes, held = self._families()
        total = sum(sizes.values())
        for summary in reversed(self.lines(None, subagents=False)):
            old = older_than is not None and now - summary.updated > older_than
            too_much = larger_than is not None and total > larger_than
            if (old or too_much) and summary.id not in held:
                total -= sizes[summary.id]
                yield summary

    def _families(self) -> tuple[dict[str, int], set[str]]:
        """The size of each session with its subagents, and those of which something is open."""
        lines = {line.id: line for line in self._log.list()}
        sizes: dict[str, int] = {}
        held: set[str] = set()
        for line in lines.values():
            root = line
            while root.parent in lines:
                root = lines[root.parent]
            sizes[root.id] = sizes.get(root.id, 0) + line.size
            if line.holder is not None:
                held.add(root.id)
        return sizes, held

    def _shrink(self) -> None:
        """Give the room back to the file system."""
        with self._database.reading() as connection:
            connection.execute("PRAGMA incremental_vacuum").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _delete(connection: apsw.Connection, number: int) -> None:
    places = (number * schema.ROOM, (number + 1) * schema.ROOM - 1)
    connection.execute("DELETE FROM words WHERE rowid BETWEEN ? AND ?", places)
    connection.execute("DELETE FROM entry WHERE number BETWEEN ? AND ?", places)
    connection.execute("DELETE FROM draft WHERE session = ?", (number,))
    connection.execute("DELETE FROM session WHERE number = ?", (number,))
