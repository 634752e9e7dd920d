"""The log of all sessions in PostgreSQL.

An append is one statement: it checks the epoch, changes the row of the session, and adds the entries and
the lease at once. Leases are by the clock of the database, so the clocks of the machines do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

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
from .database import Connection, PostgresDatabase
from .requests import note_waiting_rows

CHANNEL = "turnout"
"""Notifications: `e NUMBER` for new entries of a watched session, `c NUMBER` for a request to cancel."""

ATTEMPTS = 5
"""How often a session is looked at again that another process took, and may have released, meanwhile."""

NOW = "coalesce(%(now)s::float8, extract(epoch FROM clock_timestamp())::float8)"
EXPIRES = "clock_timestamp() + make_interval(secs => %(seconds)s)"
INSERT = f"""
INSERT INTO session (id, kind, parent, source, title, system, tools, created, updated)
VALUES (%(id)s, %(kind)s, %(parent)s, %(source)s, %(title)s, %(system)s, %(tools)s, {NOW}, {NOW})
ON CONFLICT (id) DO NOTHING RETURNING number
"""
HELD = "SELECT holder, expires > clock_timestamp() FROM session WHERE id = %(id)s"
TAKE = f"""
UPDATE session SET epoch = epoch + 1, holder = %(holder)s, expires = {EXPIRES}
WHERE id = %(id)s AND (holder IS NULL OR expires <= clock_timestamp() OR holder = %(seen)s) RETURNING epoch
"""
RENEW = f"UPDATE session SET expires = {EXPIRES} WHERE id = %(id)s AND epoch = %(epoch)s RETURNING number"
APPEND = f"""
WITH line AS (
    UPDATE session SET updated = greatest(updated, {NOW}), turns = turns + %(turns)s,
        size = size + %(size)s, length = %(after)s + %(count)s,
        cost = CASE WHEN %(cost)s::float8 IS NULL THEN cost ELSE coalesce(cost, 0) + %(cost)s END,
        model = CASE WHEN %(model)s = '' THEN model ELSE %(model)s END,
        title = CASE WHEN title = '' THEN %(title)s ELSE title END,
        expires = greatest(expires, {EXPIRES})
    WHERE id = %(id)s AND epoch = %(epoch)s AND length = %(after)s RETURNING number, watched
), added AS (
    INSERT INTO entry (session, place, id, at, data)
    SELECT line.number, %(after)s + new.place, new.id, {NOW}, new.data
    FROM line, unnest(%(ids)s::text[], %(datas)s::bytea[]) WITH ORDINALITY AS new (id, data, place)
), undrafted AS (
    DELETE FROM draft USING line WHERE draft.session = line.number AND %(replied)s
), answered AS (
    DELETE FROM waiting_call w USING line WHERE w.session = line.number AND w.call_id = ANY(%(settled)s)
)
SELECT number, CASE WHEN watched > clock_timestamp() THEN pg_notify('{CHANNEL}', 'e ' || number) END::text
FROM line
"""
DRAFT = f"""
WITH mine AS (SELECT number FROM session WHERE id = %(id)s AND epoch = %(epoch)s)
INSERT INTO draft SELECT number, {NOW}, %(data)s FROM mine
ON CONFLICT (session) DO UPDATE SET at = excluded.at, data = excluded.data
RETURNING set_config('synchronous_commit', 'off', true)
"""
LINE = "id, title, model, turns, cost, created, updated, size, kind, parent, source"
LINES = f"SELECT {LINE}, CASE WHEN expires > clock_timestamp() THEN holder END FROM session"
LEASES = "SELECT id, holder, expires > clock_timestamp() FROM session WHERE id = ANY(%s)"
LATEST = "ORDER BY updated DESC, number DESC LIMIT"


class PostgresLog:
    """Sessions in a database. `wall_clock` only dates entries for people; None: the database's own date."""

    def __init__(self, database: PostgresDatabase, wall_clock: Callable[[], float] | None = None) -> None:
        self.database = database
        self._wall_clock = wall_clock

    def _date(self) -> float | None:
        return self._wall_clock() if self._wall_clock is not None else None

    # Leases

    def take(self, header: SessionHeader, holder: Holder, seconds: float) -> Lease:
        """Lease a session, new or known; raises at once while another lease is valid."""
        asked = {"id": header.id, "holder": holders.encode_holder(holder).decode(), "seconds": seconds}

        def take_row(connection: Connection) -> Lease:
            for _ in range(ATTEMPTS):
                seen = _read_free_holder(connection, header.id, holder)  # raises where it is held
                if seen is None:
                    connection.execute(INSERT, self._header_values(header))
                row = connection.execute(TAKE, {**asked, "seen": seen or ""}).fetchone()
                if row is not None:
                    return Lease(header.id, row[0], seconds)
                # Another process was first. It may have released the session meanwhile, so look again.
            raise SessionHeld(f"session {header.id} is taken by others again and again; try again")

        return self.database.run(take_row)

    def renew(self, lease: Lease) -> bool:
        """Renew a lease; False once another epoch has begun."""
        values = {"id": lease.session, "epoch": lease.epoch, "seconds": lease.seconds}
        return self.database.run(lambda connection: connection.execute(RENEW, values).fetchone()) is not None

    def release(self, lease: Lease) -> None:
        """End a lease, so that another process need not wait."""
        self.database.run(
            lambda connection: connection.execute(
                "UPDATE session SET holder = NULL, expires = '-infinity' WHERE id = %s AND epoch = %s",
                (lease.session, lease.epoch),
            )
        )

    # Entries

    def append(self, lease: Lease, after: int, records: Sequence[Record], tally: Tally) -> None:
        """Add entries after the first `after`, all or none."""
        values = self._append_values(lease, after, records, tally)

        def append_rows(connection: Connection) -> None:
            if not (tally.waiting or tally.rewound) and connection.execute(APPEND, values).fetchone():
                return
            with connection.transaction():
                row = connection.execute(APPEND, values).fetchone()
                if row is None:
                    self._append_again(connection, lease, after, records, values)
                else:
                    note_waiting_rows(connection, row[0], tally)

        self.database.run(append_rows)

    def _append_values(
        self, lease: Lease, after: int, records: Sequence[Record], tally: Tally
    ) -> dict[str, Any]:
        return {
            "id": lease.session,
            "epoch": lease.epoch,
            "seconds": lease.seconds,
            "after": after,
            "count": len(records),
            "size": sum(len(record.data) for record in records),
            "ids": [record.id for record in records],
            "datas": [record.data for record in records],
            "now": self._date(),
            "turns": tally.turns,
            "cost": tally.cost,
            "model": tally.model,
            "title": tally.title,
            "replied": tally.replied,
            "settled": list(tally.settled),
        }

    def _append_again(
        self,
        connection: Connection,
        lease: Lease,
        after: int,
        records: Sequence[Record],
        values: dict[str, Any],
    ) -> None:
        """The epoch is old, or an earlier append whose answer was lost is there: find out, and act."""
        row = connection.execute(
            "SELECT number, epoch FROM session WHERE id = %s FOR UPDATE", (lease.session,)
        ).fetchone()
        if row is None or row[1] != lease.epoch:
            raise _stale_lease_error(connection, lease)
        number = row[0]
        found = connection.execute(
            "SELECT id FROM entry WHERE session = %s AND place > %s ORDER BY place", (number, after)
        ).fetchall()
        if [id for (id,) in found] == values["ids"]:
            return  # this very append, whose answer was lost with the connection
        connection.execute("DELETE FROM entry WHERE session = %s AND place > %s", (number, after))
        _recount(connection, number, after)
        if connection.execute(APPEND, values).fetchone() is None:
            raise StoreError(f"session {lease.session} lacks entries before {after}; open it again to resume")
        note_waiting_rows(connection, number, _tally_of_records(records))

    def draft(self, lease: Lease, data: bytes | None) -> None:
        """Store the partial reply, in place of an earlier one; None deletes it."""
        values = {"id": lease.session, "epoch": lease.epoch, "data": data, "now": self._date()}

        def put_draft(connection: Connection) -> None:
            if data is not None:
                if connection.execute(DRAFT, values).fetchone() is None:
                    raise _stale_lease_error(connection, lease)
                return
            connection.execute(
                "DELETE FROM draft USING session s WHERE draft.session = s.number AND s.id = %(id)s"
                " AND s.epoch = %(epoch)s",
                values,
            )

        self.database.run(put_draft)

    def load(self, session: str) -> StoredSession:
        """The whole session, at one moment."""

        def load_rows(connection: Connection) -> StoredSession:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                number, header = _read_header(connection, session)
                entries = connection.execute(
                    "SELECT data FROM entry WHERE session = %s ORDER BY place", (number,)
                ).fetchall()
                draft = connection.execute("SELECT data FROM draft WHERE session = %s", (number,)).fetchone()
            return StoredSession(header, tuple(row[0] for row in entries), draft[0] if draft else None)

        return self.database.run(load_rows)

    def read_after(self, session: str, place: int) -> Sequence[WatchedEntry]:
        """The entries of a session after a place, in order."""

        def read_rows(connection: Connection) -> list[WatchedEntry]:
            rows = connection.execute(
                "SELECT e.place, e.at, e.data FROM entry e JOIN session s ON s.number = e.session"
                " WHERE s.id = %s AND e.place > %s ORDER BY e.place",
                (session, place),
            ).fetchall()
            if not rows:
                _read_header(connection, session)  # raises where there is no such session
            return [WatchedEntry(*row) for row in rows]

        return self.database.run(read_rows)

    # Sessions

    def list(self, limit: int | None = None) -> Lines:
        """The sessions, latest first."""
        return self.list_where("true", (), limit)

    def list_where(self, condition: str, values: tuple[Any, ...], limit: int | None) -> Lines:
        query = f"{LINES} WHERE {condition} {LATEST} %s"
        rows = self.database.run(lambda connection: connection.execute(query, (*values, limit)).fetchall())
        return [_summary_of(row) for row in rows]

    def find(self, session: str) -> SessionSummary | None:
        found = self.list_where("id = %s", (session,), 1)
        return found[0] if found else None

    def read_leases(self, sessions: Sequence[str]) -> dict[str, LeaseState]:
        rows = self.database.run(
            lambda connection: connection.execute(LEASES, (list(sessions),)).fetchall() if sessions else []
        )
        return {id: _lease_state(holder, is_valid) for id, holder, is_valid in rows}

    def add(self, header: SessionHeader, entries: Iterable[bytes], tally: Tally) -> None:
        """Add a whole session: a fork, or an import."""
        records = [Record(f"0.{at}", data) for at, data in enumerate(entries)]
        values = self._append_values(Lease(header.id, 0, 0.0), 0, records, tally)

        def add_rows(connection: Connection) -> None:
            with connection.transaction():
                if connection.execute(INSERT, self._header_values(header)).fetchone() is None:
                    raise UsageError(f"there is a session {header.id!r} already; choose another id")
                connection.execute(APPEND, values)

        self.database.run(add_rows)

    def _header_values(self, header: SessionHeader) -> dict[str, Any]:
        values = {name: getattr(header, name) for name in header.__struct_fields__}
        return {**values, "tools": msgspec.json.encode(header.tools), "now": self._date()}


def _read_free_holder(connection: Connection, session: str, asking: Holder) -> str | None:
    """The last holder of a session, which holds it no longer; raises where it does. None: no such session."""
    row = connection.execute(HELD, {"id": session}).fetchone()
    if row is None:
        return None
    who = holders.decode_holder(row[0].encode() if row[0] else None)
    if who is not None and row[1] and not holders.is_same_store(who, asking) and not holders.has_ended(who):
        where = holders.describe_holder(who)
        raise SessionHeld(f"session {session} is open in {where}; close it there, or fork it", who)
    return row[0] or ""


def _stale_lease_error(connection: Connection, lease: Lease) -> StoreError:
    row = connection.execute("SELECT holder FROM session WHERE id = %s", (lease.session,)).fetchone()
    if row is None:
        return StoreError(f"session {lease.session} was deleted; start a new session")
    who = holders.decode_holder(row[0].encode() if row[0] else None)
    by = f"by {holders.describe_holder(who)}" if who is not None else "by a process that has ended"
    return SessionHeld(f"session {lease.session} was taken over {by}; open it again to resume", who)


def _recount(connection: Connection, number: int, length: int) -> None:
    """Count the entries of a session anew, after some were taken back."""
    query = "SELECT data FROM entry WHERE session = %s ORDER BY place"
    rows = connection.execute(query, (number,)).fetchall()
    counted = tally_of(decoded for (data,) in rows if (decoded := decode_or_none(data)) is not None)
    connection.execute(
        "UPDATE session SET turns = %s, cost = %s, size = %s, length = %s, indexed = least(indexed, %s)"
        " WHERE number = %s",
        (counted.turns, counted.cost, sum(len(data) for (data,) in rows), length, length, number),
    )


def _tally_of_records(records: Sequence[Record]) -> Tally:
    return tally_of(decoded for each in records if (decoded := decode_or_none(each.data)) is not None)


def _read_header(connection: Connection, session: str) -> tuple[int, SessionHeader]:
    row = connection.execute(
        "SELECT number, id, title, system, tools, kind, parent, source FROM session WHERE id = %s", (session,)
    ).fetchone()
    if row is None:
        raise UsageError(f"there is no session {session!r}; `turnout sessions` lists all")
    number, id, title, system, tools, *rest = row
    known = msgspec.json.decode(tools, type=tuple[ToolSpec, ...])
    return number, SessionHeader(id, title, system, known, *rest)


def _lease_state(holder: str | None, is_valid: bool) -> LeaseState:
    who = holders.decode_holder(holder.encode() if holder else None)
    return LeaseState(who, who is not None and is_valid and not holders.has_ended(who))


def _summary_of(row: Sequence[Any]) -> SessionSummary:
    who = holders.decode_holder(row[-1].encode() if row[-1] else None)
    held = who is not None and not holders.has_ended(who)
    return replace(SessionSummary(*row[:-1]), holder=who if held else None)
