"""Full-text search in SQLite, over all texts, calls and results.

The index is updated before each search and is part of the same file, so it neither slows an
append nor disagrees with the log.
"""

from __future__ import annotations

import re
from typing import Any

import apsw

from ..ports import Hit
from ..searchable_text import excerpt_around, text_of
from . import schema
from .database import Database

BATCH = 500

BEHIND = f"""
SELECT number, indexed FROM session s WHERE indexed < (
    SELECT coalesce(max(e.number), 0) FROM entry e
    WHERE e.number BETWEEN s.number * {schema.ROOM} AND (s.number + 1) * {schema.ROOM} - 1
)
"""
LACKING = f"""
SELECT s.id, s.title, s.updated, e.number % {schema.ROOM}, e.data
FROM session s JOIN entry e ON e.number > s.indexed
    AND e.number BETWEEN s.number * {schema.ROOM} AND (s.number + 1) * {schema.ROOM} - 1
ORDER BY s.updated DESC, e.number
"""
FOUND = f"""
SELECT s.id, s.title, s.updated, e.number % {schema.ROOM}, e.data
FROM words JOIN entry e ON e.number = words.rowid JOIN session s ON s.number = e.number / {schema.ROOM}
WHERE words MATCH ? ORDER BY rank LIMIT ?
"""


class SqliteWords:
    """The index of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best entry of each session that has all these words, best first."""
        words = re.findall(r"\w+", query)
        if not words:
            return []
        asked = " ".join(f'"{word}"*' for word in words)
        with self._database.read_connection() as connection:
            writable = not connection.readonly("main")
        if writable:
            self.catch_up()
        with self._database.read_connection() as connection:
            rows: list[Any] = connection.execute(FOUND, (asked, limit * 5)).fetchall()
            rows += [] if writable else _find_unindexed(connection, words)
        hits: dict[str, Hit] = {}
        for session, title, updated, place, data in rows:
            hits.setdefault(session, Hit(session, title, updated, place, excerpt_around(data, words)))
        return list(hits.values())[:limit]

    def catch_up(self) -> None:
        """Index the entries that were appended since the last time."""
        with self._database.read_connection() as connection:
            rows: list[Any] = connection.execute(BEHIND).fetchall()
        for number, indexed in rows:
            self._index_session(number, max(indexed, number * schema.ROOM))

    def _index_session(self, number: int, after: int) -> None:
        last = (number + 1) * schema.ROOM - 1
        while True:
            with self._database.write_transaction(durable=False) as connection:
                rows: list[Any] = connection.execute(
                    "SELECT number, data FROM entry WHERE number > ? AND number <= ? ORDER BY number LIMIT ?",
                    (after, last, BATCH),
                ).fetchall()
                if not rows:
                    return
                _add_texts(connection, rows)
                after = rows[-1][0]
                connection.execute("UPDATE session SET indexed = ? WHERE number = ?", (after, number))


def _add_texts(connection: apsw.Connection, rows: list[tuple[int, bytes]]) -> None:
    texts = [(number, text) for number, data in rows if (text := text_of(data))]
    connection.executemany("INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)", texts)


def _find_unindexed(connection: apsw.Connection, words: list[str]) -> list[Any]:
    """Entries with these words that the index lacks: a read-only store cannot update its index."""
    wanted = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in words]
    rows: Any = connection.execute(LACKING).fetchall()
    return [row for row in rows if all(word.search(text_of(row[-1])) for word in wanted)]
