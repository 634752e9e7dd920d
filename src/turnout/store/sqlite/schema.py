"""The tables, their version, and the migrations from older versions.

The number of an entry is the number of its session and its position, in one integer: the entries
of a session are stored together, in order, and no two can have the same position.

A migration is one transaction, checked before the commit. A copy of the old file stays beside it
until the new one was read back whole. After a crash at any time, the store is the old one or the
new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw

from ...errors import StoreError
from .. import holder
from ..place import make_file
from .database import APPLICATION, Connect, transaction

VERSION = 1
ROOM = 1 << 32
"""How many entries a session can have."""

TABLES = """
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    parent TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    system TEXT NOT NULL,
    tools BLOB NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    turns INTEGER NOT NULL DEFAULT 0,
    cost REAL,
    size INTEGER NOT NULL DEFAULT 0,
    indexed INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    holder BLOB,
    expires REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    at REAL NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE TABLE draft (session INTEGER PRIMARY KEY, at REAL NOT NULL, data BLOB NOT NULL) STRICT;
CREATE TABLE counter (
    day TEXT NOT NULL,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (day, name, provider, model)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
"""

ADDITIONS = (
    "ALTER TABLE session ADD COLUMN renewed REAL NOT NULL DEFAULT 0",
    "CREATE TABLE cancel_request (session INTEGER PRIMARY KEY, at REAL NOT NULL) STRICT",
    """
    CREATE TABLE waiting_call (
        session INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        at REAL NOT NULL,
        data BLOB NOT NULL,
        answer BLOB,
        PRIMARY KEY (session, call_id)
    ) STRICT, WITHOUT ROWID
    """,
)
"""What later releases added. An older turnout ignores it, so both can use the file at the same time.

Only add at the end: the number of additions that a file has is kept in its `addition` table.
"""

Step = Callable[[apsw.Connection], None]
Steps = Mapping[int, Step]

STEPS: Steps = {}
"""How version n becomes version n + 1, by n."""


def prepare_tables(connection: apsw.Connection, path: Path, connect: Connect) -> None:
    """Create the tables where there are none, and migrate old ones."""
    if version_of(connection) != VERSION:
        create_tables(connection)
    if version_of(connection) < VERSION:
        migrate_tables(connection, path, connect, STEPS, VERSION)
    if not connection.readonly("main"):
        make_additions(connection)
    if (copy := copy_of(path)).exists():
        _remove_copy(connection, copy)


def version_of(connection: apsw.Connection) -> int:
    """The version of a store; 0 for an empty file. Raises for a newer store."""
    version = int(connection.execute("PRAGMA user_version").get)
    if version > VERSION:
        raise StoreError(
            f"the store was written by a newer turnout (its version is {version}, this one knows {VERSION}); "
            "upgrade turnout"
        )
    return version


def create_tables(connection: apsw.Connection) -> None:
    """Create the tables of this version, unless another process was first."""
    with transaction(connection):
        if version_of(connection) == 0:
            connection.execute(TABLES)
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")


def make_additions(connection: apsw.Connection) -> None:
    """Add the columns and tables of this release that the file lacks."""
    if _additions_made(connection) >= len(ADDITIONS):
        return
    with transaction(connection):
        connection.execute("CREATE TABLE IF NOT EXISTS addition (number INTEGER PRIMARY KEY) STRICT")
        for number in range(_additions_made(connection), len(ADDITIONS)):
            connection.execute(ADDITIONS[number])
            connection.execute("INSERT INTO addition VALUES (?)", (number + 1,))


def _additions_made(connection: apsw.Connection) -> int:
    if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'addition'").get:
        return 0
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM addition").get)


def migrate_tables(connection: apsw.Connection, path: Path, connect: Connect, steps: Steps, to: int) -> None:
    """Migrate an old store to version `to`; keep a copy of the old file until the new one was read back."""
    with transaction(connection):
        version = int(connection.execute("PRAGMA user_version").get)
        if version >= to:
            return  # another process was first
        _refuse_while_open(connection)
        _keep_copy(path, connect)
        before = entries_fingerprint(connection)
        for number in range(version, to):
            steps[number](connection)
        _check_unchanged(connection, before)
        connection.execute(f"PRAGMA user_version={to}")


def entries_fingerprint(connection: apsw.Connection) -> tuple[int, int, str]:
    """The counts of sessions and entries, and a hash over the number and content of every entry."""
    sessions = connection.execute("SELECT count(*) FROM session").get
    digest, entries = sha256(), 0
    for number, data in connection.execute("SELECT number, data FROM entry ORDER BY number"):
        digest.update(b"%d:%d:" % (number, len(data)))
        digest.update(data)
        entries += 1
    return sessions, entries, digest.hexdigest()


def _check_unchanged(connection: apsw.Connection, before: tuple[int, int, str]) -> None:
    if (after := entries_fingerprint(connection)) != before:
        raise StoreError(
            f"a migration would change stored entries ({before} to {after}); nothing was changed; "
            "please report this as a bug, and use the older turnout"
        )


def _refuse_while_open(connection: apsw.Connection) -> None:
    held: Any = connection.execute(
        "SELECT id, holder, expires FROM session WHERE holder IS NOT NULL"
    ).fetchall()
    for session, data, expires in held:
        who = holder.decode_holder(data)
        if who is not None and holder.is_lease_valid(who, expires, holder.clock()):
            where = holder.describe_holder(who)
            raise StoreError(f"session {session} is open in an older turnout, {where}; close it first")


def copy_of(path: Path) -> Path:
    """The path of the old store until the new one was read back."""
    return Path(f"{path}.old")


def _remove_copy(connection: apsw.Connection, copy: Path) -> None:
    """Delete the copy once the store is whole; also a copy that a crashed upgrade left."""
    if connection.execute("PRAGMA integrity_check(1)").get != "ok":
        raise StoreError(f"the upgrade damaged the store; the old one is {copy}: rename it to restore it")
    with suppress(FileNotFoundError):
        os.unlink(copy)


def _keep_copy(path: Path, connect: Connect) -> None:
    """Copy the store to a file beside it: written whole, then renamed."""
    copy = copy_of(path)
    half = Path(f"{copy}.part")
    with suppress(FileNotFoundError):
        os.unlink(half)
    make_file(half)
    reader = connect(str(path))
    try:
        reader.execute("VACUUM INTO ?", (str(half),))
    finally:
        reader.close(True)
    sync_to_disk(half)
    os.replace(half, copy)
    sync_to_disk(copy.parent)


def sync_to_disk(path: Path) -> None:
    """Sync a file, or the names in a folder, to the disk. Windows cannot open folders."""
    if os.name == "nt" and path.is_dir():
        return
    opened = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
