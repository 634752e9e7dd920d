"""Full-text search over all texts, calls and results.

The index is updated before each search and is part of the same file, so it neither slows an
append nor disagrees with the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import apsw
from msgspec import Struct

from ..model import Entry, ModelTurn, Settled, SystemTurn, Text, ToolCall, UserTurn, block_text
from ..plain import dumps
from .sqlite import schema
from .sqlite.database import Database
from .summary_of_entries import decode_or_none

BATCH = 500
LONGEST = 20_000
"""How many characters of one entry are indexed."""
AROUND = 60

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


class Hit(Struct, frozen=True):
    """Where words were found: the session, the number of the entry in it, and an excerpt."""

    session: str
    title: str
    updated: float
    place: int
    excerpt: str


class WordIndex:
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
            hits.setdefault(session, Hit(session, title, updated, place, _excerpt_around(data, words)))
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


def text_of(data: bytes) -> str:
    """The text of an entry that can be found."""
    entry = decode_or_none(data)
    return "\n".join(_texts_of(entry))[:LONGEST] if entry is not None else ""


def _texts_of(entry: Entry) -> Iterator[str]:
    match entry:
        case SystemTurn() | UserTurn() | ModelTurn():
            for block in entry.blocks:
                if isinstance(block, ToolCall):
                    yield f"{block.name} {dumps(block.arguments)}"
                elif isinstance(block, Text):
                    yield block.text
                else:
                    yield block_text(block)
        case Settled(_, outcome):
            yield outcome.text


def _excerpt_around(data: bytes, words: list[str]) -> str:
    text = " ".join(text_of(data).split())
    found = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE)
    at = found.start() if found else 0
    start, end = max(0, at - AROUND), min(len(text), at + 2 * AROUND)
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
