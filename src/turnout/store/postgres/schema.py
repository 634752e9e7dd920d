"""The tables in PostgreSQL, their version, and how older ones become newer ones.

Two versions of turnout can use the same database during an upgrade: a step only adds (a table, an index,
a column with a default), and the table `schema_version` says the oldest version of the tables that a
program must know to use them. A program that is too old is refused, with a message.
"""

from __future__ import annotations

from ...errors import StoreError
from .database import Connection

STEPS = (
    """
    CREATE TABLE session (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text NOT NULL UNIQUE,
        kind text NOT NULL,
        parent text NOT NULL,
        source text NOT NULL,
        title text NOT NULL,
        system text NOT NULL,
        tools bytea NOT NULL,
        created double precision NOT NULL,
        updated double precision NOT NULL,
        model text NOT NULL DEFAULT '',
        turns integer NOT NULL DEFAULT 0,
        cost double precision,
        size bigint NOT NULL DEFAULT 0,
        length integer NOT NULL DEFAULT 0,
        indexed integer NOT NULL DEFAULT 0,
        epoch bigint NOT NULL DEFAULT 0,
        holder text,
        expires timestamptz NOT NULL DEFAULT '-infinity',
        cancelled timestamptz,
        watched timestamptz NOT NULL DEFAULT '-infinity'
    );
    CREATE INDEX session_parent ON session (parent) WHERE parent <> '';
    CREATE INDEX session_updated ON session (updated DESC, number DESC);
    CREATE INDEX session_behind ON session (number) WHERE indexed < length;
    CREATE TABLE entry (
        session bigint NOT NULL REFERENCES session ON DELETE CASCADE,
        place integer NOT NULL,
        id text NOT NULL,
        at double precision NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (session, place)
    );
    CREATE TABLE words (
        session bigint NOT NULL REFERENCES session ON DELETE CASCADE,
        place integer NOT NULL,
        words tsvector NOT NULL,
        PRIMARY KEY (session, place)
    );
    CREATE INDEX words_words ON words USING gin (words);
    CREATE TABLE draft (
        session bigint PRIMARY KEY REFERENCES session ON DELETE CASCADE,
        at double precision NOT NULL,
        data bytea NOT NULL
    );
    CREATE TABLE counter (
        day text NOT NULL,
        name text NOT NULL,
        provider text NOT NULL,
        model text NOT NULL,
        count bigint NOT NULL,
        PRIMARY KEY (day, name, provider, model)
    );
    CREATE TABLE waiting_call (
        session bigint NOT NULL REFERENCES session ON DELETE CASCADE,
        call_id text NOT NULL,
        at double precision NOT NULL,
        data bytea NOT NULL,
        answer bytea,
        PRIMARY KEY (session, call_id)
    );
    """,
    """
    CREATE TABLE gateway_state (
        conversation text NOT NULL,
        name text NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        size integer NOT NULL,
        state bytea NOT NULL,
        PRIMARY KEY (conversation, name)
    );
    CREATE INDEX gateway_state_at ON gateway_state (at);
    CREATE TABLE gateway_usage (
        client text NOT NULL,
        day date NOT NULL,
        requests bigint NOT NULL,
        tokens bigint NOT NULL,
        cost double precision NOT NULL,
        PRIMARY KEY (client, day)
    );
    """,
)
"""How version n becomes version n + 1. Only add at the end, and only what an older program can ignore."""

VERSION = len(STEPS)
OLDEST = 1
"""The oldest version that a program must know to use these tables: raise it for other changes."""

LOCK = 0x7475726E  # "turn": one process migrates at a time


def prepare_schema(connection: Connection) -> None:
    """Create the tables where there are none, and add what newer versions have."""
    if _read_version(connection) is None or _checked_version(connection) < VERSION:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            _make_steps(connection)


def _make_steps(connection: Connection) -> None:
    connection.execute("CREATE SCHEMA IF NOT EXISTS turnout")
    connection.execute("SET LOCAL search_path = turnout")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL, oldest integer NOT NULL)"
    )
    version = _checked_version(connection)
    for step in STEPS[version:]:
        connection.execute(step)
    if version < VERSION:
        connection.execute("DELETE FROM schema_version")
        connection.execute("INSERT INTO schema_version VALUES (%s, %s)", (VERSION, OLDEST))


def _checked_version(connection: Connection) -> int:
    """The version of the tables; raises where this program is too old for them."""
    version, oldest = _read_version(connection) or (0, 0)
    if oldest > VERSION:
        raise StoreError(
            f"the store was written by a newer turnout (it needs version {oldest}, "
            f"this one knows {VERSION}); upgrade turnout"
        )
    return version


def _read_version(connection: Connection) -> tuple[int, int] | None:
    found = connection.execute("SELECT to_regclass('turnout.schema_version') IS NOT NULL").fetchone()
    if found is None or not found[0]:
        return None
    row = connection.execute("SELECT version, oldest FROM turnout.schema_version").fetchone()
    return (row[0], row[1]) if row else (0, 0)
