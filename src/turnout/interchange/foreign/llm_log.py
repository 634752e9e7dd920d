"""The database that llm logs to: the tables that it has, and attachments."""

from __future__ import annotations

import base64
from typing import Any

import apsw

from ...model import Media
from ...plain import text_in

Row = dict[str, Any]


class LlmLog:
    """The tables of a log. Which there are depends on the version of llm."""

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

    def __enter__(self) -> LlmLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def media_of_row(row: Row) -> Media:
    """A row of attachments as media: its bytes, or their address."""
    data = base64.b64encode(row.get("content") or b"").decode()
    uri = text_in(row.get("url")) or text_in(row.get("path"))
    return Media(text_in(row.get("type")) or "application/octet-stream", data, "" if data else uri)
