"""The requests that the gateway has recorded, read from its memory by a connection of our own.

Filters are conditions in SQL over the columns of `request_columns`; the totals of a group are sums over
the same rows that the list shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import msgspec
from msgspec import Struct

from ..gateway.request_columns import COLUMNS, add_request_columns
from ..shared.clean_text import one_line

LISTED = ("number", "id", "client", "began", "cost", "tokens", *COLUMNS)
GROUPS = {
    "client": "client",
    "provider": "substr(target, 1, instr(target || ':', ':') - 1)",
    "model": "target",
    "asked": "asked",
    "agent": "agent",
    "status": "status",
    "day": "date(began, 'unixepoch')",
    "conversation": "conversation",
}
"""What requests can be grouped by, and how that is written in SQL."""
SUMS = """count(*) AS requests, total(cost) AS cost, total(tokens) AS tokens, total(repairs) AS repairs,
sum(status >= 400) AS errors, total(cached * input) AS cached_input,
total(CASE WHEN cached IS NULL THEN 0 ELSE input END) AS counted_input,
sum(steps LIKE '%"switched:%') AS failovers, avg(first_byte) AS first_byte, avg(seconds) AS seconds"""
ANY_WORD = "(asked LIKE :w{0} OR target LIKE :w{0} OR agent LIKE :w{0} OR error LIKE :w{0} OR id = :e{0})"


class RequestFilter(Struct, frozen=True):
    """Which requests: all fields that are set must fit."""

    errors: bool = False
    repairs: bool = False
    client: str = ""
    provider: str = ""
    words: str = ""
    conversation: str = ""
    since: float = 0.0

    def conditions(self) -> tuple[str, dict[str, Any]]:
        parts, values = ["began >= :since"], dict[str, Any](since=self.since)
        if self.errors:
            parts.append("status >= 400")
        if self.repairs:
            parts.append("repairs > 0")
        for name, column in (("client", "client"), ("provider", GROUPS["provider"])):
            if given := getattr(self, name):
                parts.append(f"{column} = :{name}")
                values[name] = given
        if self.conversation:
            parts.append("conversation = :conversation")
            values["conversation"] = self.conversation
        for at, word in enumerate(self.words.split()[:8]):
            parts.append(ANY_WORD.format(at))
            values[f"w{at}"], values[f"e{at}"] = f"%{word}%", word
        return " AND ".join(parts), values


class SentBefore(Struct, frozen=True):
    """An earlier request of a conversation: who got it, and its body."""

    id: str
    target: str
    body: str


class RequestRecords:
    """Reads requests. Without a file there are none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: apsw.Connection | None = None

    def _rows(self, sql: str, values: dict[str, Any] | tuple[Any, ...]) -> list[dict[str, Any]]:
        connection = self._open_file()
        if connection is None:
            return []
        cursor = connection.execute(sql, values)
        try:
            names = [column[0] for column in cursor.get_description()]
        except apsw.ExecutionCompleteError:
            return []
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def _open_file(self) -> apsw.Connection | None:
        if self._connection is None and self._path.exists():
            connection = apsw.Connection(str(self._path))
            connection.set_busy_timeout(2000)
            if list(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'requests'")):
                add_request_columns(connection)
                self._connection = connection
        return self._connection

    def page(self, wanted: RequestFilter, limit: int, before: int | None = None) -> list[dict[str, Any]]:
        """The latest requests, or the latest before a number."""
        where, values = wanted.conditions()
        if before is not None:
            where += " AND number < :before"
            values["before"] = before
        sql = (
            f"SELECT {', '.join(LISTED)} FROM requests INDEXED BY requests_listed WHERE {where} "
            "ORDER BY began DESC, number DESC LIMIT :limit"
        )
        return self._rows(sql, {**values, "limit": limit})

    def totals(self, wanted: RequestFilter) -> dict[str, Any]:
        """The sums over all requests that fit."""
        where, values = wanted.conditions()
        found = self._rows(f"SELECT {SUMS} FROM requests INDEXED BY requests_listed WHERE {where}", values)
        return found[0] if found else {"requests": 0, "cost": 0.0, "tokens": 0, "repairs": 0, "errors": 0}

    def groups(self, wanted: RequestFilter, by: str, limit: int = 200) -> list[dict[str, Any]]:
        """The sums of each group, the most expensive first; days by date."""
        where, values = wanted.conditions()
        order = "name DESC" if by == "day" else "cost DESC, requests DESC"
        sql = (
            f"SELECT {GROUPS[by]} AS name, {SUMS} FROM requests INDEXED BY requests_listed WHERE {where} "
            f"GROUP BY name ORDER BY {order} LIMIT :limit"
        )
        return self._rows(sql, {**values, "limit": limit})

    def names(self, by: str) -> list[str]:
        """The values that a filter can have, of the latest requests; odd names are left out."""
        latest = (
            "(SELECT client, target FROM requests INDEXED BY requests_listed ORDER BY began DESC LIMIT 5000)"
        )
        sql = f"SELECT DISTINCT {GROUPS[by]} AS name FROM {latest}"
        found = [str(row["name"]) for row in self._rows(sql, ()) if row["name"]]
        return sorted(name for name in found if one_line(name) == name)

    def request(self, id: str) -> tuple[dict[str, Any], dict[str, str] | None] | None:
        """One record, and its bodies where they were kept."""
        rows = self._rows("SELECT number, record, bodies FROM requests WHERE id = ?", (id,))
        if not rows:
            return None
        record = {**msgspec.json.decode(rows[0]["record"]), "number": rows[0]["number"]}
        bodies = msgspec.json.decode(rows[0]["bodies"]) if rows[0]["bodies"] else None
        return record, bodies

    def previous_sent(self, record: dict[str, Any]) -> SentBefore | None:
        """What was sent before this request in its conversation: to the same target, where there is one."""
        sql = (
            "SELECT id, target, bodies FROM requests WHERE conversation = ? AND number < ? "
            "AND bodies IS NOT NULL ORDER BY target = ? DESC, number DESC LIMIT 1"
        )
        rows = self._rows(sql, (record["conversation"], record["number"], record["target"]))
        if not rows or not record["conversation"]:
            return None
        sent = msgspec.json.decode(rows[0]["bodies"]).get("sent", "")
        return SentBefore(str(rows[0]["id"]), str(rows[0]["target"]), str(sent))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
