"""Operations on whole sessions in PostgreSQL: list, rename, delete."""

from __future__ import annotations

from ...errors import SessionHeld, UsageError
from .. import holder as holders
from ..ports import SessionSummary
from .database import Connection
from .log import PostgresLog

FAMILY = """
WITH RECURSIVE family(id, number) AS (
    SELECT id, number FROM session WHERE id = %s
    UNION SELECT s.id, s.number FROM session s JOIN family f ON s.parent = f.id AND s.parent <> ''
) SELECT s.id, s.number, CASE WHEN s.expires > clock_timestamp() THEN s.holder END
FROM session s JOIN family USING (number) FOR UPDATE OF s
"""


class PostgresCatalog:
    """The list of sessions, and operations on whole sessions."""

    def __init__(self, log: PostgresLog) -> None:
        self._log = log
        self._database = log.database

    def lines(self, limit: int | None, *, subagents: bool) -> list[SessionSummary]:
        return self._log.list_where("true" if subagents else "parent = ''", (), limit)

    def children(self, id: str) -> list[SessionSummary]:
        return self._log.list_where("parent = %s", (id,), None)

    def rename(self, id: str, title: str) -> None:
        """Give a session a title that the user chose."""
        query = "UPDATE session SET title = %s WHERE id = %s RETURNING number"
        if self._database.run(lambda connection: connection.execute(query, (title, id)).fetchone()) is None:
            raise UsageError(f"there is no session {id!r}; `turnout sessions` lists all")

    def delete(self, id: str) -> list[str]:
        """Delete a session and its subagents, all or none; returns the deleted ids."""

        def delete_rows(connection: Connection) -> list[str]:
            with connection.transaction():
                family = connection.execute(FAMILY, (id,)).fetchall()
                if not family:
                    raise UsageError(f"there is no session {id!r}; `turnout sessions` lists all")
                for member, _, holder in family:
                    _refuse_if_open(member, holder)
                numbers = [row[1] for row in family]
                connection.execute("DELETE FROM session WHERE number = ANY(%s)", (numbers,))
            return [row[0] for row in family]

        return self._database.run(delete_rows)

    def vacuum(self) -> None:
        """Nothing to do: PostgreSQL's autovacuum reuses the space."""


def _refuse_if_open(session: str, holder: str | None) -> None:
    who = holders.decode_holder(holder.encode() if holder else None)
    if who is not None and not holders.has_ended(who):
        where = holders.describe_holder(who)
        raise SessionHeld(f"session {session} is open in {where}; close it there first", who)
