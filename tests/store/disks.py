"""Disks that misbehave, as SQLite file systems: they tell of each change before it happens.

Without shared memory a WAL needs its file to itself, so stores on these disks lock it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import apsw
from msgspec import Struct

from turnout.store.sqlite.database import Connect

SECTOR = 512


class Change(Struct, frozen=True):
    """One thing that is done to a file: write, truncate, sync, delete; lost; or an acknowledgement."""

    kind: str
    file: str = ""
    at: int = 0
    data: bytes = b""


Watcher = Callable[[Change], None]


class Watched(apsw.VFS):
    """The usual file system, with someone looking on who may raise or kill."""

    def __init__(self, name: str, watcher: Watcher) -> None:
        self.watcher = watcher
        self.name = name
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        return WatchedFile(self.watcher, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.watcher(Change("delete", filename, at=int(syncdir)))
        super().xDelete(filename, syncdir)


class WatchedFile(apsw.VFSFile):
    def __init__(self, watcher: Watcher, name: Any, flags: list[int]) -> None:
        self.watcher = watcher
        self.file = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self.watcher(Change("write", self.file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self.watcher(Change("truncate", self.file, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self.watcher(Change("sync", self.file))
        super().xSync(flags)


def connecting(vfs: Watched, checkpoint: int = 20) -> Connect:
    """Connections over that file system; small checkpoints, so that many happen."""

    def connect(path: str) -> apsw.Connection:
        connection = apsw.Connection(path, vfs=vfs.name)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
        connection.execute(f"PRAGMA wal_autocheckpoint={checkpoint}").fetchall()
        return connection

    return connect


class Lossy:
    """What a power cut would leave: synced changes for sure, of the others any part.

    `states` gives, after each change, some of the states that the files could then be in.
    """

    def __init__(self, changes: list[Change], chance: random.Random) -> None:
        self.changes = changes
        self.chance = chance

    def states(self, every: int) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Acknowledgements so far, and one possible content of each file, after every n-th change."""
        safe: dict[str, bytearray] = {}
        loose: dict[str, list[Change]] = {}
        acknowledged = 0
        for number, change in enumerate(self.changes):
            match change.kind:
                case "ack":
                    acknowledged = change.at
                case "sync":
                    for pending in loose.pop(change.file, []):
                        apply(safe, pending)
                case "lost":  # a sync failed: what it was to write can be read, and is not on the disk
                    loose.pop(change.file, None)
                case "delete" if change.at:  # its folder is synced with it
                    loose.pop(change.file, None)
                    safe.pop(change.file, None)
                case _:
                    loose.setdefault(change.file, []).append(change)
            if number % every == 0:
                yield acknowledged, self._crash(safe, loose)

    def _crash(self, safe: dict[str, bytearray], loose: dict[str, list[Change]]) -> dict[str, bytes]:
        files = {name: bytearray(content) for name, content in safe.items()}
        kept = self.chance.choice((0.0, 0.3, 0.6, 0.9, 1.0))
        for pending in loose.values():
            for change in pending:
                if self.chance.random() < kept:
                    apply(files, self._torn(change))
        return {name: bytes(content) for name, content in files.items()}

    def _torn(self, change: Change) -> Change:
        """A write may get no further than some sector."""
        if change.kind != "write" or self.chance.random() < 0.7:
            return change
        whole = max(1, len(change.data) // SECTOR)
        return Change("write", change.file, change.at, change.data[: self.chance.randrange(whole) * SECTOR])


def apply(files: dict[str, bytearray], change: Change) -> None:
    match change.kind:
        case "write":
            content = files.setdefault(change.file, bytearray())
            end = change.at + len(change.data)
            if len(content) < end:
                content.extend(bytes(end - len(content)))
            content[change.at : end] = change.data
        case "truncate":
            del files.setdefault(change.file, bytearray())[change.at :]
        case "delete":
            files.pop(change.file, None)
