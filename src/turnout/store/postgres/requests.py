"""What others leave for the process that has a session open: requests to cancel, and answers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from ...history.waiting import WaitingCall
from ..ports import Lease, Tally
from .database import Connection, PostgresDatabase

CANCEL = """
UPDATE session SET cancelled = clock_timestamp() WHERE id = %s AND holder IS NOT NULL
RETURNING pg_notify('turnout', 'c ' || number)
"""
CANCELLED = "SELECT id, epoch FROM session WHERE id = ANY(%s) AND cancelled IS NOT NULL"
ANSWERED = """
SELECT s.id, w.call_id FROM waiting_call w JOIN session s ON s.number = w.session
WHERE w.answer IS NOT NULL ORDER BY w.at, w.call_id
"""
WAITING = """
SELECT s.id, w.at, w.data, w.answer IS NOT NULL FROM waiting_call w JOIN session s ON s.number = w.session
WHERE %s IN ('', s.id) ORDER BY w.at, w.call_id
"""


class PostgresCancels:
    """Requests to stop the run of a session."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def request_cancel(self, session: str) -> bool:
        return (
            self._database.run(lambda connection: connection.execute(CANCEL, (session,)).fetchone())
            is not None
        )

    def cancelled_sessions(self, leases: Sequence[Lease]) -> set[str]:
        mine = {lease.session: lease.epoch for lease in leases}
        rows = self._database.run(lambda connection: connection.execute(CANCELLED, (list(mine),)).fetchall())
        return {id for id, epoch in rows if mine.get(id) == epoch}

    def clear_cancel(self, lease: Lease) -> None:
        self._database.run(
            lambda connection: connection.execute(
                "UPDATE session SET cancelled = NULL WHERE id = %s AND epoch = %s AND cancelled IS NOT NULL",
                (lease.session, lease.epoch),
            )
        )


class PostgresWaiting:
    """The calls that wait for an answer from outside."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def list_waiting(self, session: str | None) -> list[WaitingCall]:
        rows = self._database.run(lambda connection: connection.execute(WAITING, (session or "",)).fetchall())
        return [
            replace(msgspec.json.decode(data, type=WaitingCall), session=id, at=at, answered=answered)
            for id, at, data, answered in rows
        ]

    def list_answered(self) -> list[tuple[str, str]]:
        return self._database.run(lambda connection: connection.execute(ANSWERED).fetchall())

    def put_answer(self, session: str, call_id: str, answer: bytes) -> bool:
        row = self._database.run(
            lambda connection: connection.execute(
                "UPDATE waiting_call w SET answer = %s FROM session s WHERE w.session = s.number"
                " AND s.id = %s AND w.call_id = %s AND w.answer IS NULL RETURNING s.number",
                (answer, session, call_id),
            ).fetchone()
        )
        return row is not None

    def read_answers(self, session: str) -> dict[str, bytes]:
        rows = self._database.run(
            lambda connection: connection.execute(
                "SELECT w.call_id, w.answer FROM waiting_call w JOIN session s ON s.number = w.session"
                " WHERE s.id = %s AND w.answer IS NOT NULL",
                (session,),
            ).fetchall()
        )
        return dict(rows)


def note_waiting_rows(connection: Connection, number: int, tally: Tally) -> None:
    """Keep the table of waiting calls equal to what the entries say, in the same transaction."""
    if tally.rewound:
        connection.execute("DELETE FROM waiting_call WHERE session = %s", (number,))
    for call in tally.waiting:
        connection.execute(
            "INSERT INTO waiting_call (session, call_id, at, data) VALUES (%s, %s,"
            " extract(epoch FROM clock_timestamp()), %s) ON CONFLICT DO NOTHING",
            (number, call.call_id, msgspec.json.encode(call)),
        )
    if tally.settled:
        connection.execute(
            "DELETE FROM waiting_call WHERE session = %s AND call_id = ANY(%s)", (number, list(tally.settled))
        )
