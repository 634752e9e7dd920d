"""The log of all sessions in one SQLite file.

Everything that must hold together is one transaction: an append moves the session's line,
its entries and its lease at once, and begins by asking whether its epoch still counts.
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
from ..ports import Header, Holder, Lease, Lines, Record, Stored, Summary, Tally
from ..summary_of_entries import readable, tally_of
from . import schema
from .database import Connect, Database

TAKEN = "UPDATE session SET epoch = epoch + 1, holder = ?, expires = ? WHERE id = ? RETURNING epoch"
ADDED = """
UPDATE session SET updated = max(updated, :now), turns = turns + :turns, size = size + :size,
    cost = CASE WHEN :cost IS NULL THEN cost ELSE coalesce(cost, 0) + :cost END,
    model = CASE WHEN :model = '' THEN model ELSE :model END,
    title = CASE WHEN title = '' THEN :title ELSE title END,
    expires = max(expires, :expires)
WHERE id = :id AND epoch = :epoch RETURNING number
"""
PUT = "INSERT INTO entry VALUES (?, ?, ?, ?)"
LINE = "id, title, model, turns, cost, created, updated, size, kind, parent, source, holder, expires"


class SqliteLog:
    """Sessions in a file. `wall_clock` dates entries for people; nothing is decided by it."""

    def __init__(
        self,
        path: Path,
        *,
        wall_clock: Callable[[], float],
        clock: Callable[[], float] = holders.clock,
        connect: Connect = apsw.Connection,
    ) -> None:
        self.database = Database(path, partial(schema.prepare, path=path, connect=connect), connect)
        self._wall_clock = wall_clock
        self._clock = clock

    # Leases

    def take(self, header: Header, holder: Holder, seconds: float) -> Lease:
        """Lease a session, new or known; refused at once while a living holder's lease lasts."""
        with self.database.reading() as connection:  # a refusal need not wait for anyone's write
            self._refuse_if_held(connection, header.id, holder)
        with self.database.writing(durable=False) as connection:  # the first append makes it last
            self._refuse_if_held(connection, header.id, holder)
            self._add(connection, header)
            asked = (holders.encode(holder), self._clock() + seconds, header.id)
            return Lease(header.id, connection.execute(TAKEN, asked).get, seconds)

    def renew(self, lease: Lease) -> bool:
        """A sign of life; False once another epoch has begun."""
        with self.database.writing(durable=False) as connection:
            connection.execute(
                "UPDATE session SET expires = ? WHERE id = ? AND epoch = ?",
                (self._clock() + lease.seconds, lease.session, lease.epoch),
            )
            return connection.changes() == 1

    def release(self, lease: Lease) -> None:
        """Let go, so that the next one need not wait."""
        with self.database.writing(durable=False) as connection:
            connection.execute(
                "UPDATE session SET holder = NULL, expires = 0 WHERE id = ? AND epoch = ?",
                (lease.session, lease.epoch),
            )

    def held(self, connection: apsw.Connection, session: str) -> Holder | None:
        """Who has a session open now."""
        row = connection.execute("SELECT holder, expires FROM session WHERE id = ?", (session,)).fetchone()
        who = holders.decode(row[0]) if row else None
        return who if row and holders.holds_on(who, row[1], self._clock()) else None

    def _refuse_if_held(self, connection: apsw.Connection, session: str, asking: Holder) -> None:
        who = self.held(connection, session)
        if who is not None and not holders.same(who, asking):  # our own is left of an opening that failed
            where = holders.named(who)
            raise SessionHeld(f"session {session} is open in {where}; close it there, or fork it", who)

    # Entries

    def append(self, lease: Lease, after: int, records: Sequence[Record], tally: Tally) -> None:
        """Add entries behind the first `after`, all or none.

        When the disk fails, what became of it is looked up: entries that are there were written.
        """
        try:
            with self.database.writing() as connection:
                self._append(connection, lease, after, records, tally)
        except SessionHeld:
            raise
        except StoreError as error:
            if not isinstance(error.__cause__, apsw.IOError) or not self._came_through(lease, after, records):
                raise

    def _append(
        self, connection: apsw.Connection, lease: Lease, after: int, records: Sequence[Record], tally: Tally
    ) -> None:
        now, size = self._wall_clock(), sum(len(record.data) for record in records)
        line = {**msgspec.structs.asdict(tally), "id": lease.session, "epoch": lease.epoch}
        line |= {"now": now, "size": size, "expires": self._clock() + lease.seconds}
        number = connection.execute(ADDED, line).get
        if number is None:
            raise self._stale(connection, lease)
        base = number * schema.ROOM + after + 1
        rows = [(base + at, record.id, now, record.data) for at, record in enumerate(records)]
        try:
            connection.executemany(PUT, rows)
        except apsw.ConstraintError:
            _replace_unacknowledged(connection, number, rows)
        if tally.replied:
            connection.execute("DELETE FROM draft WHERE session = ?", (number,))

    def _stale(self, connection: apsw.Connection, lease: Lease) -> StoreError:
        row = connection.execute("SELECT holder FROM session WHERE id = ?", (lease.session,)).fetchone()
        if row is None:
            return StoreError(f"session {lease.session} was deleted; nothing more can be added to it")
        who = holders.decode(row[0])
        by = f"by {holders.named(who)}" if who is not None else "by a process that has ended"
        return SessionHeld(f"session {lease.session} was taken over {by}; open it again to go on", who)

    def _came_through(self, lease: Lease, after: int, records: Sequence[Record]) -> bool:
        """Whether a write that the disk reported as failed is in the store after all."""
        try:
            self.database.reopen()
            return self._ids(lease, after) == tuple(record.id for record in records)
        except StoreError:
            return False

    def _ids(self, lease: Lease, after: int) -> tuple[str, ...]:
        with self.database.reading() as connection:
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
        """Keep the reply under way, in place of what was kept of it; None lets it go."""
        with self.database.writing(durable=False) as connection:
            number = connection.execute(
                "SELECT number FROM session WHERE id = ? AND epoch = ?", (lease.session, lease.epoch)
            ).get
            if number is None:
                raise self._stale(connection, lease)
            if data is None:
                connection.execute("DELETE FROM draft WHERE session = ?", (number,))
            else:
                connection.execute(
                    "INSERT OR REPLACE INTO draft VALUES (?, ?, ?)", (number, self._wall_clock(), data)
                )

    def load(self, session: str) -> Stored:
        """All of a session, as of one moment."""
        with self.database.reading() as connection, _one_moment(connection):
            number, header = self._header(connection, session)
            rows = connection.execute(
                "SELECT data FROM entry WHERE number BETWEEN ? AND ? ORDER BY number", _places(number)
            )
            entries = tuple(row[0] for row in rows)
            draft = connection.execute("SELECT data FROM draft WHERE session = ?", (number,)).get
        return Stored(header, entries, draft)

    def _header(self, connection: apsw.Connection, session: str) -> tuple[int, Header]:
        row = connection.execute(
            "SELECT number, id, title, system, tools, kind, parent, source FROM session WHERE id = ?",
            (session,),
        ).fetchone()
        if row is None:
            raise UsageError(f"there is no session {session!r}; `turnout sessions` lists those there are")
        number, id, title, system, tools, *rest = row
        return number, Header(id, title, system, msgspec.json.decode(tools, type=tuple[ToolSpec, ...]), *rest)

    # Sessions

    def list(self, limit: int | None = None) -> Lines:
        """The sessions, latest first."""
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT {LINE} FROM session ORDER BY updated DESC, number DESC LIMIT ?",
                (-1 if limit is None else limit,),
            ).fetchall()
        return [self.summary(row) for row in rows]

    def find(self, session: str) -> Summary | None:
        with self.database.reading() as connection:
            row = connection.execute(f"SELECT {LINE} FROM session WHERE id = ?", (session,)).fetchone()
        return self.summary(row) if row else None

    def summary(self, row: Sequence[Any]) -> Summary:
        who = holders.decode(row[-2])
        held = holders.holds_on(who, row[-1], self._clock())
        return msgspec.structs.replace(Summary(*row[:-2]), holder=who if held else None)

    def add(self, header: Header, entries: Iterable[bytes], tally: Tally) -> None:
        """A whole session at once: a fork, or one that was imported."""
        with self.database.writing() as connection:
            if not self._add(connection, header):
                raise UsageError(f"there is a session {header.id!r} already; give the new one another id")
            records = [Record(f"0.{at}", data) for at, data in enumerate(entries)]
            self._append(connection, Lease(header.id, 0, 0.0), 0, records, tally)

    def _add(self, connection: apsw.Connection, header: Header) -> bool:
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
def _one_moment(connection: apsw.Connection) -> Iterator[None]:
    """What is read inside is how things stood at one time, whoever writes meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def _places(number: int) -> tuple[int, int]:
    """The first and the last place of a session's entries."""
    return number * schema.ROOM, (number + 1) * schema.ROOM - 1


def _replace_unacknowledged(
    connection: apsw.Connection, number: int, rows: Sequence[tuple[int, str, float, bytes]]
) -> None:
    """Entries stand where these belong: the same ones, or ones whose writing was reported as failed."""
    connection.execute("DELETE FROM entry WHERE number BETWEEN ? AND ?", (rows[0][0], _places(number)[1]))
    connection.executemany(PUT, rows)
    stored: list[Any] = connection.execute(
        "SELECT data FROM entry WHERE number BETWEEN ? AND ?", _places(number)
    ).fetchall()
    counted = tally_of(decoded for row in stored if (decoded := readable(row[0])) is not None)
    connection.execute(
        "UPDATE session SET turns = ?, cost = ?, size = ? WHERE number = ?",
        (counted.turns, counted.cost, sum(len(row[0]) for row in stored), number),
    )
