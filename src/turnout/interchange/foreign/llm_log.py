"""The database that llm logs to: its tables, as far as they are there, and what is attached."""

from __future__ import annotations

import base64
from typing import Any

import apsw

from ...model import Media
from .foreign_transcript import text

Row = dict[str, Any]


class Log:
    """The tables of a log, as far as they are there."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.tables = {
            row["name"] for row in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }

    def rows(self, sql: str, *values: Any) -> list[Row]:
        cursor = self._connection.execute(sql, values)
        found: list[Row] = []
        for row in cursor:
            found.append(dict(zip((name for name, *_ in cursor.get_description()), row, strict=True)))
        return found

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def attached(row: Row) -> Media:
    """A row of attachments: its bytes, or where they lie."""
    data = base64.b64encode(row.get("content") or b"").decode()
    uri = text(row.get("url")) or text(row.get("path"))
    return Media(text(row.get("type")) or "application/octet-stream", data, "" if data else uri)
