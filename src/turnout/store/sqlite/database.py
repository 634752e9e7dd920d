"""One SQLite connection with safe settings; its errors become `StoreError`s.

WAL with `synchronous=FULL`: what is committed is on the disk. Never memory-mapped. A process has
one connection; after a disk error it is opened again, because a sync that failed once must not be
retried on the same pages.

A file that is not ours stays unchanged: it is checked before SQLite may change anything in it.
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
"""Older versions of SQLite can corrupt a WAL database with several writers (the WAL-reset bug)."""

SYNCHRONOUS = "FULL"
PATIENCE = 10.0
"""Seconds to wait for other processes before the store counts as busy."""

APPLICATION = 0x7475726E  # "turn", in the file's header

OF_OUR_PARENT: list[apsw.Connection] = []
"""Connections inherited through a fork. Closing them would drop locks of the parent, so they stay open."""

Connect = Callable[[str], apsw.Connection]
Prepare = Callable[[apsw.Connection], None]

PRAGMAS = (
    "synchronous=EXTRA",  # until WAL is on: a deleted journal must not reappear after a power cut
    "mmap_size=0",
    "fullfsync=ON",  # where plain fsync does not reach the disk (macOS)
    "foreign_keys=ON",
    "secure_delete=ON",  # deleted content is overwritten in the file
    "temp_store=MEMORY",  # no conversation in temporary files
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "journal_size_limit=16777216",
)

ANOTHER_PROGRAM = "this is a database of another program; choose another file for the store"

REASONS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "the disk is full; free some space and try again"),
    (apsw.BusyError, f"other processes kept it locked for {PATIENCE:.0f} s; try again"),
    (apsw.LockedError, "it is locked; try again"),
    (apsw.ReadOnlyError, "it can be read, but not written; check the file system and its permissions"),
    (apsw.PermissionsError, "it cannot be opened; check its permissions"),
    (apsw.CantOpenError, "it cannot be opened; check the folder and its permissions"),
    (apsw.NotADBError, "it is not a store of sessions; choose another file"),
    (apsw.CorruptError, "the file is damaged; `turnout doctor` saves what can be read"),
    (apsw.IOError, "the disk reports an error; check the disk and try again"),
)


def check_version(version: str | None = None) -> None:
    """Refuse an SQLite that can corrupt the store."""
    version = version or apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) < FIXED:
        raise StoreError(
            f"SQLite {version} can damage a store that several processes write (its WAL-reset bug); "
            f"install {'.'.join(map(str, FIXED))} or later: pip install --upgrade apsw"
        )


class Database:
    """An SQLite file, for all threads of one process."""

    def __init__(self, path: Path, prepare: Prepare, connect: Connect = apsw.Connection) -> None:
        check_version()
        self.path = path
        self._prepare = prepare
        self._connect = connect
        self._connection: apsw.Connection | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._doubtful = False  # the disk failed: what can be read may not be on the disk

    @contextmanager
    def read_connection(self) -> Iterator[apsw.Connection]:
        """The connection, for reading."""
        with self._lock, self._as_store_errors():
            yield self._current_connection()

    @contextmanager
    def write_transaction(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """One transaction: afterwards all of it is on the disk, or none.

        Not durable: it survives a crash of this process at once, and a power cut only after the
        next durable transaction.
        """
        with self._lock, self._as_store_errors():
            connection = self._current_connection()
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
        """Open the file again, to see what it really holds."""
        self.close()
        with self.read_connection():
            pass

    def _current_connection(self) -> apsw.Connection:
        if os.getpid() != self._process:
            raise StoreError("a store cannot be used across a fork; open it again in the new process")
        if self._connection is None:
            self._connection = self._open_connection()
        return self._connection

    def _open_connection(self) -> apsw.Connection:
        try:
            if has_file(self.path):
                check_ours(self.path)
            else:
                private_folder(self.path.parent)
                make_file(self.path)
        except OSError as error:
            raise StoreError(
                f"the store {self.path} cannot be created ({error}); check the folder and its permissions"
            ) from error
        try:
            connection = self._set_up_connection(self._connect(str(self.path)))
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
            if can_write(self.path):
                raise
            connection = self._set_up_connection(open_read_only(self.path))
        close_to_others(self.path)
        return connection

    def _set_up_connection(self, connection: apsw.Connection) -> apsw.Connection:
        try:
            retry_while_busy(lambda: set_up(connection))
            self._prepare(connection)
            self._checkpoint_after_failure(connection)
        except BaseException:
            with suppress(apsw.Error):
                connection.close(True)
            raise
        return connection

    def _checkpoint_after_failure(self, connection: apsw.Connection) -> None:
        """After a failed sync: write the content of the WAL into the database again.

        A failed sync may have lost pages that can still be read, and later syncs do not write
        them again. After a checkpoint that empties the WAL, nothing depends on them.
        """
        if self._doubtful:
            outcome: Any = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if outcome[0]:
                raise apsw.BusyError("other processes read the WAL that must be written again")
            self._doubtful = False

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as `StoreError`s that say what happened and what to do."""
        try:
            yield
        except apsw.Error as error:
            if isinstance(error, apsw.IOError | apsw.CorruptError | apsw.CantOpenError | apsw.NotADBError):
                self._doubtful = True
                self.close()
            reason = next((text for kind, text in REASONS if isinstance(error, kind)), str(error))
            raise StoreError(f"the store {self.path} failed: {reason}") from error


def set_up(connection: apsw.Connection) -> None:
    """Set the options of a new connection."""
    connection.set_busy_timeout(int(PATIENCE * 1000))
    if is_foreign(connection):
        raise StoreError(ANOTHER_PROGRAM)
    if not connection.execute("PRAGMA page_count").get:  # later, setting it would be a write each time
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    if connection.readonly("main"):
        return
    mode = connection.execute("PRAGMA journal_mode=WAL").get
    if mode != "wal":
        raise StoreError(
            f"the file system of the store does not support WAL (SQLite says {mode!r}); use a local disk"
        )
    connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")


def check_ours(path: Path) -> None:
    """Refuse a file that is not a store, without a lock, a WAL or any other trace beside it.

    Only the file itself is read here. The content of a new store may still be in its WAL only, and
    during a checkpoint the file may look damaged. So a file that is neither ours nor clearly that of
    another program is left to `set_up`, which checks again, with the WAL.
    """
    if not os.stat(path).st_size:
        return
    connection = _open_read_only_uri(path, "immutable=1")
    try:
        with suppress(apsw.CorruptError):
            if is_foreign(connection):
                raise StoreError(ANOTHER_PROGRAM)
    finally:
        connection.close(True)


def can_write(path: Path) -> bool:
    """Whether SQLite can write the database, and its WAL beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def open_read_only(path: Path) -> apsw.Connection:
    """A connection for reading where nothing can be written.

    SQLite needs the index of its WAL, and cannot create one here. Every writer creates one, so
    there are none; then the index can be in memory, and locks are not needed.
    """
    if not os.path.exists(f"{path}-wal"):
        return _open_read_only_uri(path, "immutable=1")
    connection = _open_read_only_uri(path, "vfs=unix-none")
    connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
    return connection


def _open_read_only_uri(path: Path, options: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(path.absolute()))}?mode=ro&{options}", flags=flags)


def is_foreign(connection: apsw.Connection) -> bool:
    """Whether the file is a database of another program.

    The tables are counted before the id is read. Another process may create the store between the two
    statements, with tables and id in one transaction: in this order its id is always seen.
    """
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    return bool(tables) and connection.execute("PRAGMA application_id").get != APPLICATION


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """From `BEGIN IMMEDIATE` to `COMMIT`; any error inside rolls it back."""
    retry_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def retry_while_busy(step: Callable[[], object]) -> None:
    """Retry while the file is locked: SQLite reports some locks at once, despite the busy timeout."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            step()
            return
        except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError):
            if time.monotonic() > ends:
                raise
            time.sleep(0.002)
