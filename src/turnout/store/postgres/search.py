"""Full-text search with PostgreSQL's own text search.

The index is updated before each search, so it costs an append nothing. Words are cut and freed of accents
here, with the same result on every server: the extension `unaccent` is not installed everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from typing import Any

from ..ports import Hit
from ..searchable_text import excerpt_around, text_of
from .database import Connection, PostgresDatabase

BATCH = 200
BEHIND = "SELECT number FROM session WHERE indexed < length ORDER BY number"
FOUND = """
SELECT s.id, s.title, s.updated, e.place, e.data
FROM words w JOIN session s ON s.number = w.session
    JOIN entry e ON e.session = w.session AND e.place = w.place,
    to_tsquery('simple', %s) AS asked
WHERE w.words @@ asked ORDER BY ts_rank(w.words, asked) DESC, s.updated DESC, e.place LIMIT %s
"""


class PostgresWords:
    """The index of one store."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best entry of each session that has all these words, best first."""
        words = plain_words(query)
        if not words:
            return []
        self.catch_up()
        asked = " & ".join(f"{word}:*" for word in words)
        rows: list[Any] = self._database.run(
            lambda connection: connection.execute(FOUND, (asked, limit * 5)).fetchall()
        )
        shown = re.findall(r"\w+", query)
        hits: dict[str, Hit] = {}
        for session, title, updated, place, data in rows:
            hits.setdefault(session, Hit(session, title, updated, place, excerpt_around(data, shown)))
        return list(hits.values())[:limit]

    def catch_up(self) -> None:
        """Index the entries that were appended since the last time."""
        for (number,) in self._database.run(lambda each: each.execute(BEHIND).fetchall()):
            while self._database.run(partial(_index_batch, number=number)):
                pass


def _index_batch(connection: Connection, number: int) -> bool:
    """Index the next entries of a session; False when none is left."""
    with connection.transaction():
        row = connection.execute(
            "SELECT indexed, length FROM session WHERE number = %s FOR UPDATE", (number,)
        ).fetchone()
        if row is None or row[0] >= row[1]:
            return False
        rows = connection.execute(
            "SELECT place, data FROM entry WHERE session = %s AND place > %s ORDER BY place LIMIT %s",
            (number, row[0], BATCH),
        ).fetchall()
        for place, data in rows:
            connection.execute(
                "INSERT INTO words VALUES (%s, %s, to_tsvector('simple', %s))"
                " ON CONFLICT (session, place) DO UPDATE SET words = excluded.words",
                (number, place, " ".join(plain_words(text_of(data)))),
            )
        reached = rows[-1][0] if rows else row[1]
        connection.execute("UPDATE session SET indexed = %s WHERE number = %s", (reached, number))
    return True


def plain_words(text: str) -> list[str]:
    """The words of a text: small letters without accents, and digits."""
    bare = "".join(
        letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)
    )
    return re.findall(r"[^\W_]+", bare.lower())
