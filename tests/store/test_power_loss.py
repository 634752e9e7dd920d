"""A power cut at any moment: what was acknowledged is there, and nothing is corrupt."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from tests.laws.share import ROTATION, SOAK
from tests.store.disks import Change, Lossy, Watched, connecting
from tests.store.telling import steps

from turnout.errors import StoreError, UsageError
from turnout.history.check import violations
from turnout.history.codec import encode_entry
from turnout.store import Store, holder
from turnout.store.sqlite import database

STATES = 2_400 if SOAK else 240


class Disk:
    """A disk that keeps a record of what is done to it; the n-th sync from now on may fail."""

    def __init__(self) -> None:
        self.seen: list[Change] = []
        self.failing = 0

    def __call__(self, change: Change) -> None:
        self.failing -= change.kind == "sync"
        if change.kind == "sync" and self.failing == 0:
            self.seen.append(Change("lost", change.file))
            raise apsw.IOError("the sync failed")
        self.seen.append(change)


def changes(folder: Path, turns: int, failing: int = 0) -> tuple[list[Change], list[bytes]]:
    """All that a session does to the disk, with the acknowledgements between, and its entries."""
    disk = Disk()
    vfs = Watched("recording", disk)
    store = Store(folder / "s.db", heartbeat=False, connect=connecting(vfs))
    history = store.open("s")
    disk.failing = failing
    for step in steps(history, turns):
        with suppress(StoreError, UsageError):
            step()
            disk.seen.append(Change("ack", at=len(history.entries)))
    store.close()
    return disk.seen, [encode_entry(entry) for entry in history.entries]


def crash(seen: list[Change], entries: list[bytes], folder: Path, seed: int) -> tuple[int, int, int]:
    """How many states were tried, in how many something acknowledged was lost, in how many corrupt."""
    every = max(1, len(seen) * (3 if SOAK else 1) // STATES)
    tried = lost = corrupt = 0
    for acknowledged, files in Lossy(seen, random.Random(seed)).states(every):
        tried += 1
        there = after(files, folder)
        if there is None:
            corrupt += 1
        elif there[:acknowledged] != entries[:acknowledged] or there != entries[: len(there)]:
            lost += 1
    return tried, lost, corrupt


def after(files: dict[str, bytes], folder: Path) -> list[bytes] | None:
    """The entries that are found when the power is back; None if the store is not whole."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / Path(name).name).write_bytes(content)
    path = folder / "s.db"
    if not path.exists() or not path.stat().st_size:
        return []
    connection = apsw.Connection(str(path))
    try:
        if connection.execute("PRAGMA integrity_check").get != "ok":
            return None
        if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
            return []
        return [data for (data,) in connection.execute("SELECT data FROM entry ORDER BY number")]
    except apsw.Error:
        return None
    finally:
        connection.close(True)


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str) -> tuple[int, int, int]:
    monkeypatch.setattr(database, "SYNCHRONOUS", synchronous)
    seen, entries = changes(folder, 12)
    rounds = 3 if SOAK else 1
    counts = [crash(seen, entries, folder / "after", ROTATION + at) for at in range(rounds)]
    tried, lost, corrupt = (sum(column) for column in zip(*counts, strict=True))
    return tried, lost, corrupt


def test_a_power_cut_takes_nothing_that_was_acknowledged(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unsynced writes are dropped and torn at will; what is left begins with all that was acknowledged."""
    tried, lost, corrupt = run(quick_folder, monkeypatch, "FULL")

    assert tried >= STATES * 0.8
    assert (lost, corrupt) == (0, 0)


def test_the_simulated_power_cut_bites(quick_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With synchronous=NORMAL acknowledged entries are lost: the test above can fail."""
    tried, lost, corrupt = run(quick_folder, monkeypatch, "NORMAL")

    assert lost > tried // 10
    assert corrupt == 0


def test_a_sync_that_failed_is_not_trusted_later(quick_folder: Path) -> None:
    """What it was to write can be read and is not on the disk: it is written anew before it counts."""
    lost = []
    for failing in range(1, 41) if SOAK else range(1 + ROTATION, 41, 10):
        (folder := quick_folder / str(failing)).mkdir()
        seen, entries = changes(folder, 3, failing)
        for acknowledged, files in Lossy(seen, random.Random(failing)).states(4):
            there = after(files, folder / "after")
            if there is None or there[:acknowledged] != entries[:acknowledged]:
                lost.append((failing, acknowledged))
    assert lost == []


def much_later() -> float:
    """A clock by which every lease of before has expired."""
    return holder.clock() + 60


def test_a_resume_after_a_power_cut_is_whole(quick_folder: Path) -> None:
    """The session opens, nothing in it breaks a rule, and it goes on."""
    seen, _ = changes(quick_folder, 3)
    for _, files in Lossy(seen, random.Random(ROTATION)).states(len(seen) // (60 if SOAK else 12)):
        if after(files, quick_folder / "after") is None:
            continue
        with Store(quick_folder / "after" / "s.db", heartbeat=False, clock=much_later) as store:
            history = store.open("s")
            assert not violations(history)
            history.user("and now?")
            assert not violations(history)
