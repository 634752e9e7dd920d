"""The tables, their version, and how an older version becomes this one.

An entry's number is its session's number and its place in it, in one integer: the entries of a
session lie together, in order, and no two can have the same place.

A migration is one transaction, checked before it is committed, with a copy of the old file
beside it until the new one has been read back whole. Whenever it is stopped, the store is the
old one or the new one.
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
"""Places that a session has for its entries."""

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

Step = Callable[[apsw.Connection], None]
Steps = Mapping[int, Step]

STEPS: Steps = {}
"""How version n becomes version n + 1, by n."""


def prepare(connection: apsw.Connection, path: Path, connect: Connect) -> None:
    """Make the tables where there are none, and bring old ones up to this version."""
    if version_of(connection) != VERSION:
        create(connection)
    if version_of(connection) < VERSION:
        migrate(connection, path, connect, STEPS, VERSION)
    if (copy := copy_of(path)).exists():
        _let_go(connection, copy)


def version_of(connection: apsw.Connection) -> int:
    """The version of a store; 0 for an empty file. Refuses what is no store, or a newer one."""
    version = int(connection.execute("PRAGMA user_version").get)
    if version > VERSION:
        raise StoreError(
            f"the store was written by a newer turnout (its version is {version}, this one knows {VERSION}); "
            "upgrade turnout"
        )
    return version


def create(connection: apsw.Connection) -> None:
    """The tables of this version, unless another process was first."""
    with transaction(connection):
        if version_of(connection) == 0:
            connection.execute(TABLES)
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")


def migrate(connection: apsw.Connection, path: Path, connect: Connect, steps: Steps, to: int) -> None:
    """Bring an old store to version `to`, keeping the old file until the new one was read back."""
    with transaction(connection):
        version = int(connection.execute("PRAGMA user_version").get)
        if version >= to:
            return  # another process was first
        _refuse_while_open(connection)
        _keep_copy(path, connect)
        before = fingerprint(connection)
        for number in range(version, to):
            steps[number](connection)
        _check(connection, before)
        connection.execute(f"PRAGMA user_version={to}")


def fingerprint(connection: apsw.Connection) -> tuple[int, int, str]:
    """Sessions, entries, and a hash over every entry's place and content."""
    sessions = connection.execute("SELECT count(*) FROM session").get
    digest, entries = sha256(), 0
    for number, data in connection.execute("SELECT number, data FROM entry ORDER BY number"):
        digest.update(b"%d:%d:" % (number, len(data)))
        digest.update(data)
        entries += 1
    return sessions, entries, digest.hexdigest()


def _check(connection: apsw.Connection, before: tuple[int, int, str]) -> None:
    if (after := fingerprint(connection)) != before:
        raise StoreError(
            f"a migration would have changed what is stored ({before} to {after}); nothing was changed"
        )


def _refuse_while_open(connection: apsw.Connection) -> None:
    held: Any = connection.execute(
        "SELECT id, holder, expires FROM session WHERE holder IS NOT NULL"
    ).fetchall()
    for session, data, expires in held:
        who = holder.decode(data)
        if who is not None and holder.holds_on(who, expires, holder.clock()):
            raise StoreError(
                f"session {session} is open in an older turnout, {holder.named(who)}; close it first"
            )


def copy_of(path: Path) -> Path:
    """Where the old store lies until the new one was read back."""
    return Path(f"{path}.old")


def _let_go(connection: apsw.Connection, copy: Path) -> None:
    """The copy, once the store that it was kept for is whole; also one that an upgrade left which died."""
    if connection.execute("PRAGMA integrity_check(1)").get != "ok":
        raise StoreError(f"the store did not come through its upgrade whole; the old one is {copy}")
    with suppress(FileNotFoundError):
        os.unlink(copy)


def _keep_copy(path: Path, connect: Connect) -> None:
    """The store as it is, in a file beside it: written whole, then given its name."""
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
    sync(half)
    os.replace(half, copy)
    sync(copy.parent)


def sync(path: Path) -> None:
    """See that a file, or the names in a folder, are on the disk. Windows opens no folders."""
    if os.name == "nt" and path.is_dir():
        return
    opened = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
