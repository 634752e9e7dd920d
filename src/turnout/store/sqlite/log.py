"""The log of all sessions in one SQLite file.

Changes that belong together are one transaction: an append changes the row of the session, its
entries and its lease at once, and first checks that its epoch is still current.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ...errors import SessionHeld, StoreError, UsageError
from ...model import ToolSpec
from .. import holder as holders
from ..ports import (
    Holder,
    Lease,
    LeaseState,
    Lines,
    Record,
    SessionHeader,
    SessionSummary,
    StoredSession,
    Tally,
    WatchedEntry,
)
from ..summary_of_entries import decode_or_none, tally_of
from . import schema
from .database import Connect, Database
from .requests import note_waiting_calls

TAKEN = """
UPDATE session SET epoch = epoch + 1, holder = ?, expires = ?, renewed = ? WHERE id = ? RETURNING epoch
"""
ADDED = """
UPDATE session SET updated = max(updated, :now), turns = turns + :turns, size = size + :size,
    cost = CASE WHEN :cost IS NULL THEN cost ELSE coalesce(cost, 0) + :cost END,
    model = CASE WHEN :model = '' THEN model ELSE :model END,
    title = CASE WHEN title = '' THEN :title ELSE title END,
    expires = max(expires, :expires), renewed = :now
WHERE id = :id AND epoch = :epoch RETURNING number
"""
PUT = "INSERT INTO entry VALUES (?, ?, ?, ?)"
LINE = "id, title, model, turns, cost, created, updated, size, kind, parent, source, holder, expires"


class SqliteLog:
    """Sessions in a file. `wall_clock` only dates entries for people."""

    def __init__(
        self,
        path: Path,
        *,
        wall_clock: Callable[[], float],
        clock: Callable[[], float] = holders.clock,
        connect: Connect = apsw.Connection,
    ) -> None:
        self.database = Database(path, partial(schema.prepare_tables, path=path, connect=connect), connect)
        self._wall_clock = wall_clock
        self._clock = clock

    # Leases

    def take(self, header: SessionHeader, holder: Holder, seconds: float) -> Lease:
        """Lease a session, new or known; raises at once while another lease is valid."""
        with self.database.read_connection() as connection:  # a refusal need not wait for writers
            self._refuse_if_held(connection, header.id, holder)
        with self.database.write_transaction(
            durable=False
        ) as connection:  # the first append makes it durable
            self._refuse_if_held(connection, header.id, holder)
            self._insert_session(connection, header)
            now = self._wall_clock()
            asked = (holders.encode_holder(holder), self._clock() + seconds, now, header.id)
            return Lease(header.id, connection.execute(TAKEN, asked).get, seconds)

    def renew(self, lease: Lease) -> bool:
        """Renew a lease; False once another epoch has begun."""
        with self.database.write_transaction(durable=False) as connection:
            connection.execute(
                "UPDATE session SET expires = ?, renewed = ? WHERE id = ? AND epoch = ?",
                (self._clock() + lease.seconds, self._wall_clock(), lease.session, lease.epoch),
            )
            return connection.changes() == 1

    def release(self, lease: Lease) -> None:
        """End a lease, so that another process need not wait."""
        with self.database.write_transaction(durable=False) as connection:
            connection.execute(
                "UPDATE session SET holder = NULL, expires = 0 WHERE id = ? AND epoch = ?",
                (lease.session, lease.epoch),
            )

    def holder_of(self, connection: apsw.Connection, session: str) -> Holder | None:
        """The process that has a session open now."""
        row = connection.execute("SELECT holder, expires FROM session WHERE id = ?", (session,)).fetchone()
        return self._valid_holder(session, row[0], row[1]) if row else None

    def _valid_holder(self, session: str, data: bytes | None, expires: float) -> Holder | None:
        """The holder of a session if its lease is valid."""
        who = holders.decode_holder(data)
        renewed = self._renewal_date(session) if holders.is_elsewhere(who) else 0.0
        valid = holders.is_lease_valid(who, expires, self._clock(), renewed, self._wall_clock())
        return who if valid else None

    def _renewal_date(self, session: str) -> float:
        with self.database.read_connection() as connection:
            try:
                return float(
                    connection.execute("SELECT renewed FROM session WHERE id = ?", (session,)).get or 0.0
                )
            except apsw.SQLError:  # a store of an older turnout, on a disk that cannot be written
                return 0.0

    def _refuse_if_held(self, connection: apsw.Connection, session: str, asking: Holder) -> None:
        who = self.holder_of(connection, session)
        if who is not None and not holders.is_same_store(
            who, asking
        ):  # our own lease is left from an open() that failed
            where = holders.describe_holder(who)
            raise SessionHeld(f"session {session} is open in {where}; close it there, or fork it", who)

    # Entries

    def append(self, lease: Lease, after: int, records: Sequence[Record], tally: Tally) -> None:
        """Add entries after the first `after`, all or none.

        When the disk reports an error, the file is read again: entries that are there were written.
        """
        try:
            with self.database.write_transaction() as connection:
                self._append_records(connection, lease, after, records, tally)
        except SessionHeld:
            raise
        except StoreError as error:
            if not isinstance(error.__cause__, apsw.IOError) or not self._was_written(lease, after, records):
                raise

    def _append_records(
        self, connection: apsw.Connection, lease: Lease, after: int, records: Sequence[Record], tally: Tally
    ) -> None:
        now, size = self._wall_clock(), sum(len(record.data) for record in records)
        line: dict[str, Any] = {name: getattr(tally, name) for name in ("turns", "cost", "model", "title")}
        line |= {
            "id": lease.session,
            "epoch": lease.epoch,
            "now": now,
            "size": size,
            "expires": self._clock() + lease.seconds,
        }
        number = connection.execute(ADDED, line).get
        if number is None:
            raise self._stale_lease_error(connection, lease)
        base = number * schema.ROOM + after + 1
        rows = [(base + at, record.id, now, record.data) for at, record in enumerate(records)]
        try:
            connection.executemany(PUT, rows)
        except apsw.ConstraintError:
            _replace_unacknowledged(connection, number, rows)
        if tally.replied:
            connection.execute("DELETE FROM draft WHERE session = ?", (number,))
        if tally.waiting or tally.settled or tally.rewound:
            note_waiting_calls(connection, number, now, tally)

    def _stale_lease_error(self, connection: apsw.Connection, lease: Lease) -> StoreError:
        row = connection.execute("SELECT holder FROM session WHERE id = ?", (lease.session,)).fetchone()
        if row is None:
            return StoreError(f"session {lease.session} was deleted; start a new session")
        who = holders.decode_holder(row[0])
        by = f"by {holders.describe_holder(who)}" if who is not None else "by a process that has ended"
        return SessionHeld(f"session {lease.session} was taken over {by}; open it again to resume", who)

    def _was_written(self, lease: Lease, after: int, records: Sequence[Record]) -> bool:
        """Whether a write that the disk reported as failed is in the store after all."""
        try:
            self.database.reopen()
            return self._record_ids_after(lease, after) == tuple(record.id for record in records)
        except StoreError:
            return False

    def _record_ids_after(self, lease: Lease, after: int) -> tuple[str, ...]:
        with self.database.read_connection() as connection:
            found = connection.execute(
                "SELECT number FROM session WHERE id = ? AND epoch = ?", (lease.session, lease.epoch)
            ).get
            if found is None:
                return ()
            rows = connection.execute(
                "SELECT id FROM entry WHERE number BETWEEN ? AND ? ORDER BY number",
                (found * schema.ROOM + after + 1, (found + 1) * schema.ROOM - 1),
            )
            return tuple(row[0] for row in rows)

    def draft(self, lease: Lease, data: bytes | None) -> None:
        """Store the partial reply, in place of an earlier one; None deletes it."""
        with self.database.write_transaction(durable=False) as connection:
            number = connection.execute(
                "SELECT number FROM session WHERE id = ? AND epoch = ?", (lease.session, lease.epoch)
            ).get
            if number is None:
                raise self._stale_lease_error(connection, lease)
            if data is None:
                connection.execute("DELETE FROM draft WHERE session = ?", (number,))
            else:
                connection.execute(
                    "INSERT OR REPLACE INTO draft VALUES (?, ?, ?)", (number, self._wall_clock(), data)
                )

    def load(self, session: str) -> StoredSession:
        """The whole session, at one moment."""
        with self.database.read_connection() as connection, _read_snapshot(connection):
            number, header = self._read_header(connection, session)
            rows = connection.execute(
                "SELECT data FROM entry WHERE number BETWEEN ? AND ? ORDER BY number", _entry_numbers(number)
            )
            entries = tuple(row[0] for row in rows)
            draft = connection.execute("SELECT data FROM draft WHERE session = ?", (number,)).get
        return StoredSession(header, entries, draft)

    def _read_header(self, connection: apsw.Connection, session: str) -> tuple[int, SessionHeader]:
        row = connection.execute(
            "SELECT number, id, title, system, tools, kind, parent, source FROM session WHERE id = ?",
            (session,),
        ).fetchone()
        if row is None:
            raise UsageError(f"there is no session {session!r}; `turnout sessions` lists all")
        number, id, title, system, tools, *rest = row
        return number, SessionHeader(
            id, title, system, msgspec.json.decode(tools, type=tuple[ToolSpec, ...]), *rest
        )

    # Sessions

    def list(self, limit: int | None = None) -> Lines:
        """The sessions, latest first."""
        with self.database.read_connection() as connection:
            rows = connection.execute(
                f"SELECT {LINE} FROM session ORDER BY updated DESC, number DESC LIMIT ?",
                (-1 if limit is None else limit,),
            ).fetchall()
        return [self.summary(row) for row in rows]

    def find(self, session: str) -> SessionSummary | None:
        with self.database.read_connection() as connection:
            row = connection.execute(f"SELECT {LINE} FROM session WHERE id = ?", (session,)).fetchone()
        return self.summary(row) if row else None

    def read_leases(self, sessions: Sequence[str]) -> dict[str, LeaseState]:
        with self.database.read_connection() as connection:
            found = {
                session: connection.execute(f"SELECT {LINE} FROM session WHERE id = ?", (session,)).fetchone()
                for session in sessions
            }
        return {session: self._lease_state(row) for session, row in found.items() if row}

    def _lease_state(self, row: Sequence[Any]) -> LeaseState:
        valid = self._valid_holder(row[0], row[-2], row[-1]) is not None
        return LeaseState(holders.decode_holder(row[-2]), valid)

    def summary(self, row: Sequence[Any]) -> SessionSummary:
        who = self._valid_holder(row[0], row[-2], row[-1])
        return msgspec.structs.replace(SessionSummary(*row[:-2]), holder=who)

    def read_after(self, session: str, place: int) -> Sequence[WatchedEntry]:
        """The entries of a session after a place, in order."""
        with self.database.read_connection() as connection:
            number, _ = self._read_header(connection, session)
            first, last = _entry_numbers(number)
            rows: Any = connection.execute(
                "SELECT number, at, data FROM entry WHERE number > ? AND number <= ? ORDER BY number",
                (first + place, last),
            ).fetchall()
        return [WatchedEntry(at_number - first, at, data) for at_number, at, data in rows]

    def add(self, header: SessionHeader, entries: Iterable[bytes], tally: Tally) -> None:
        """Add a whole session: a fork, or an import."""
        with self.database.write_transaction() as connection:
            if not self._insert_session(connection, header):
                raise UsageError(f"there is a session {header.id!r} already; choose another id")
            records = [Record(f"0.{at}", data) for at, data in enumerate(entries)]
            self._append_records(connection, Lease(header.id, 0, 0.0), 0, records, tally)

    def _insert_session(self, connection: apsw.Connection, header: SessionHeader) -> bool:
        now = self._wall_clock()
        connection.execute(
            "INSERT OR IGNORE INTO session (id, kind, parent, source, title, system, tools, created, updated)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                header.id,
                header.kind,
                header.parent,
                header.source,
                header.title,
                header.system,
                msgspec.json.encode(header.tools),
                now,
                now,
            ),
        )
        return connection.changes() == 1

    def close(self) -> None:
        self.database.close()


@contextmanager
def _read_snapshot(connection: apsw.Connection) -> Iterator[None]:
    """All reads inside see the store at one moment, also while others write."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def _entry_numbers(number: int) -> tuple[int, int]:
    """The first and the last number of the entries of a session."""
    return number * schema.ROOM, (number + 1) * schema.ROOM - 1


def _replace_unacknowledged(
    connection: apsw.Connection, number: int, rows: Sequence[tuple[int, str, float, bytes]]
) -> None:
    """Replace entries that have these numbers: the same ones, or ones whose write was reported as failed."""
    connection.execute(
        "DELETE FROM entry WHERE number BETWEEN ? AND ?", (rows[0][0], _entry_numbers(number)[1])
    )
    connection.executemany(PUT, rows)
    stored: list[Any] = connection.execute(
        "SELECT data FROM entry WHERE number BETWEEN ? AND ?", _entry_numbers(number)
    ).fetchall()
    counted = tally_of(decoded for row in stored if (decoded := decode_or_none(row[0])) is not None)
    connection.execute(
        "UPDATE session SET turns = ?, cost = ?, size = ? WHERE number = ?",
        (counted.turns, counted.cost, sum(len(row[0]) for row in stored), number),
    )
