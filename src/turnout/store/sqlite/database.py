"""One SQLite connection, opened the careful way, and every error of it in our words.

WAL with `synchronous=FULL`: what is committed is on the disk. Never memory-mapped. One
connection serves a process; after a disk error it is opened anew, because a sync that failed
once must not be tried again on the same pages.

A file that is not ours stays as it is: it is looked at before SQLite may change anything of it.
Where nothing can be written (a read-only file system), the store can still be read.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from ...errors import StoreError
from ...world.places import private_folder
from ..place import close_to_others, has_file, make_file

FIXED = (3, 51, 3)
"""Before this, SQLite can corrupt a WAL database that several connections write (the WAL-reset bug)."""

SYNCHRONOUS = "FULL"
PATIENCE = 10.0
"""Seconds to wait for other processes before the store counts as busy."""

APPLICATION = 0x7475726E  # "turn", in the file's header

OF_OUR_PARENT: list[apsw.Connection] = []
"""Connections that came through a fork: never closed here, which would meddle with the parent's files."""

Connect = Callable[[str], apsw.Connection]
Prepare = Callable[[apsw.Connection], None]

PRAGMAS = (
    "synchronous=EXTRA",  # until the WAL is there: a journal that is deleted must not come back
    "mmap_size=0",
    "fullfsync=ON",  # where plain fsync does not reach the disk (macOS)
    "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is gone from the file too
    "temp_store=MEMORY",  # no conversation in anybody's temporary files
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "journal_size_limit=16777216",
)

ANOTHER_PROGRAM = "this is the database of another program; name another file for the store"

REASONS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "the disk is full; make room and go on"),
    (apsw.BusyError, f"other processes have kept it locked for {PATIENCE:.0f} s; try again"),
    (apsw.LockedError, "it is locked; try again"),
    (apsw.ReadOnlyError, "it can be read, but not written; check the file system and its permissions"),
    (apsw.PermissionsError, "it cannot be opened; check its permissions"),
    (apsw.CantOpenError, "it cannot be opened; check the folder and its permissions"),
    (apsw.NotADBError, "it is not a store of sessions; name another file"),
    (apsw.CorruptError, "its file is damaged; `turnout doctor` saves what can be read"),
    (apsw.IOError, "the disk reports an error; check it and go on"),
)


def check_version(version: str | None = None) -> None:
    """Refuse an SQLite that can corrupt the store."""
    version = version or apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) < FIXED:
        raise StoreError(
            f"SQLite {version} can damage a store that several processes write (its WAL-reset bug); "
            f"it takes {'.'.join(map(str, FIXED))} or later: pip install --upgrade apsw"
        )


class Database:
    """A file of SQLite, used by one process and any of its threads."""

    def __init__(self, path: Path, prepare: Prepare, connect: Connect = apsw.Connection) -> None:
        check_version()
        self.path = path
        self._prepare = prepare
        self._connect = connect
        self._connection: apsw.Connection | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._doubtful = False  # the disk failed: what can be read may not be on it

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """The connection; what is read inside `BEGIN` … is one moment of the store."""
        with self._lock, self._told():
            yield self._ready()

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """One transaction: all of it is on the disk afterwards, or none of it ever was.

        Not durable: it outlives this process at once, and a power cut after the next one that is.
        """
        with self._lock, self._told():
            connection = self._ready()
            if not durable:
                connection.execute("PRAGMA synchronous=NORMAL")
            try:
                with transaction(connection):
                    yield connection
            finally:
                if not durable:
                    connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            if os.getpid() != self._process:
                OF_OUR_PARENT.append(connection)
                return
            with suppress(apsw.Error):
                connection.close(True)

    def reopen(self) -> None:
        """Start over with what is really in the file."""
        self.close()
        with self.reading():
            pass

    def _ready(self) -> apsw.Connection:
        if os.getpid() != self._process:
            raise StoreError("a store cannot be used across a fork; open it again in the new process")
        if self._connection is None:
            self._connection = self._opened()
        return self._connection

    def _opened(self) -> apsw.Connection:
        try:
            if has_file(self.path):
                check_ours(self.path)
            else:
                private_folder(self.path.parent)
                make_file(self.path)
        except OSError as error:
            raise StoreError(f"the store {self.path} cannot be made: {error}") from error
        try:
            connection = self._set_up(self._connect(str(self.path)))
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
            if can_write(self.path):
                raise
            connection = self._set_up(read_only(self.path))
        close_to_others(self.path)
        return connection

    def _set_up(self, connection: apsw.Connection) -> apsw.Connection:
        try:
            patiently(lambda: set_up(connection))
            self._prepare(connection)
            self._settle_doubt(connection)
        except BaseException:
            with suppress(apsw.Error):
                connection.close(True)
            raise
        return connection

    def _settle_doubt(self, connection: apsw.Connection) -> None:
        """After a failed sync: write anew, into the database itself, whatever the WAL seems to hold.

        A sync that failed may have lost pages that can still be read, and later ones do not
        bring them back. A checkpoint that empties the WAL leaves nothing to rely on them.
        """
        if self._doubtful:
            outcome: Any = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if outcome[0]:
                raise apsw.BusyError("other processes read the log that is to be written anew")
            self._doubtful = False

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of SQLite as `StoreError`s that say what it means and what to do."""
        try:
            yield
        except apsw.Error as error:
            if isinstance(error, apsw.IOError | apsw.CorruptError | apsw.CantOpenError | apsw.NotADBError):
                self._doubtful = True
                self.close()
            reason = next((text for kind, text in REASONS if isinstance(error, kind)), str(error))
            raise StoreError(f"the store {self.path} did not take this: {reason}") from error


def set_up(connection: apsw.Connection) -> None:
    """Bring a new connection into the state that everything here relies on."""
    connection.set_busy_timeout(int(PATIENCE * 1000))
    if is_foreign(connection):
        raise StoreError(ANOTHER_PROGRAM)
    if not connection.execute("PRAGMA page_count").get:  # later it would be a write each time
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    if connection.readonly("main"):
        return
    mode = connection.execute("PRAGMA journal_mode=WAL").get
    if mode != "wal":
        raise StoreError(
            f"the store's file system cannot do what WAL needs (it says {mode!r}); use a local disk"
        )
    connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")


def check_ours(path: Path) -> None:
    """Refuse a file that is not a store, without a lock, a log or any other trace beside it.

    Only the file itself is read here. Of a store that was just made everything may still be in its
    log, and while its log is written into it (a checkpoint) it may look damaged. So what is neither
    ours nor clearly another's is left to `set_up`, which asks again, with the log.
    """
    if not os.stat(path).st_size:
        return
    connection = _open(path, "immutable=1")
    try:
        with suppress(apsw.CorruptError):
            if is_foreign(connection):
                raise StoreError(ANOTHER_PROGRAM)
    finally:
        connection.close(True)


def can_write(path: Path) -> bool:
    """Whether SQLite could write the database, and its log beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def read_only(path: Path) -> apsw.Connection:
    """A connection for reading where nothing can be written.

    SQLite needs its log's index, and cannot make one here. Nobody who writes would leave it away, so
    nobody writes; then the index can be in memory, and locks are not needed.
    """
    if not os.path.exists(f"{path}-wal"):
        return _open(path, "immutable=1")
    connection = _open(path, "vfs=unix-none")
    connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
    return connection


def _open(path: Path, how: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(path.absolute()))}?mode=ro&{how}", flags=flags)


def is_foreign(connection: apsw.Connection) -> bool:
    """Whether the file is a database of some other program."""
    mine = connection.execute("PRAGMA application_id").get == APPLICATION
    return not mine and bool(connection.execute("SELECT count(*) FROM sqlite_schema").get)


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """From `BEGIN IMMEDIATE` to `COMMIT`; whatever goes wrong inside undoes it."""
    patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def patiently(step: Callable[[], object]) -> None:
    """Try again while others are at work: some locks are reported at once, whatever the timeout."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            step()
            return
        except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError):
            if time.monotonic() > ends:
                raise
            time.sleep(0.002)
