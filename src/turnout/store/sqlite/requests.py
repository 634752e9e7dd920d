"""What others leave for the process that has a session open: requests to cancel, and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec
from msgspec.structs import replace

from ...history.waiting import WaitingCall
from ..ports import Lease, Tally
from .database import Database

CANCEL = """
INSERT OR REPLACE INTO cancel_request SELECT number, ? FROM session WHERE id = ? AND holder IS NOT NULL
"""
MINE = "FROM session s WHERE s.id = ? AND s.epoch = ?"
ANSWERED = """
SELECT s.id, w.call_id FROM waiting_call w JOIN session s ON s.number = w.session
WHERE w.answer IS NOT NULL ORDER BY w.at, w.call_id
"""
WAITING = """
SELECT s.id, w.at, w.data, w.answer IS NOT NULL FROM waiting_call w JOIN session s ON s.number = w.session
WHERE ? IN ('', s.id) ORDER BY w.at, w.call_id
"""


class SqliteCancels:
    """Requests to stop the run of a session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def request_cancel(self, session: str) -> bool:
        with self._database.write_transaction(durable=False) as connection:
            connection.execute(CANCEL, (0.0, session))
            return connection.changes() > 0

    def cancelled_sessions(self, leases: Sequence[Lease]) -> set[str]:
        with self._database.read_connection() as connection:
            rows: Any = connection.execute(
                "SELECT s.id, s.epoch FROM cancel_request c JOIN session s ON s.number = c.session"
            ).fetchall()
        mine = {(lease.session, lease.epoch) for lease in leases}
        return {id for id, epoch in rows if (id, epoch) in mine}

    def clear_cancel(self, lease: Lease) -> None:
        with self._database.read_connection() as connection:
            if not connection.execute("SELECT count(*) FROM cancel_request").get:
                return
        with self._database.write_transaction(durable=False) as connection:
            connection.execute(
                f"DELETE FROM cancel_request WHERE session = (SELECT s.number {MINE})",
                (lease.session, lease.epoch),
            )


class SqliteWaiting:
    """The calls that wait for an answer from outside."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_waiting(self, session: str | None) -> list[WaitingCall]:
        with self._database.read_connection() as connection:
            rows: Any = connection.execute(WAITING, (session or "",)).fetchall()
        return [
            replace(msgspec.json.decode(data, type=WaitingCall), session=id, at=at, answered=bool(answered))
            for id, at, data, answered in rows
        ]

    def list_answered(self) -> list[tuple[str, str]]:
        with self._database.read_connection() as connection:
            rows: Any = connection.execute(ANSWERED).fetchall()
        return list(rows)

    def put_answer(self, session: str, call_id: str, answer: bytes) -> bool:
        with self._database.write_transaction() as connection:
            connection.execute(
                "UPDATE waiting_call SET answer = ? WHERE call_id = ? AND answer IS NULL"
                " AND session = (SELECT number FROM session WHERE id = ?)",
                (answer, call_id, session),
            )
            return connection.changes() > 0

    def read_answers(self, session: str) -> dict[str, bytes]:
        with self._database.read_connection() as connection:
            rows: Any = connection.execute(
                "SELECT call_id, answer FROM waiting_call WHERE answer IS NOT NULL"
                " AND session = (SELECT number FROM session WHERE id = ?)",
                (session,),
            ).fetchall()
        return dict(rows)


def note_waiting_calls(connection: apsw.Connection, number: int, now: float, tally: Tally) -> None:
    """Keep the table of waiting calls equal to what the entries say, in the same transaction."""
    if tally.rewound:
        connection.execute("DELETE FROM waiting_call WHERE session = ?", (number,))
    connection.executemany(
        "INSERT OR IGNORE INTO waiting_call (session, call_id, at, data) VALUES (?, ?, ?, ?)",
        [(number, call.call_id, now, msgspec.json.encode(call)) for call in tally.waiting],
    )
    connection.executemany(
        "DELETE FROM waiting_call WHERE session = ? AND call_id = ?",
        [(number, call_id) for call_id in tally.settled],
    )
