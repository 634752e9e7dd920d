"""A full disk or an I/O error at every single write: said, never glossed over, and survived."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tests.laws.share import ROTATION, SOAK
from tests.store.disks import Change, Watched, connecting
from tests.store.telling import steps

from turnout.errors import SessionHeld, StoreError, UsageError
from turnout.history.check import violations
from turnout.history.codec import encode_entry
from turnout.history.log import History
from turnout.store import Store

SHARE = 1 if SOAK else 10


class Failing:
    """A disk on which changes fail from the n-th on, for a while. Deletions never fail."""

    def __init__(self, error: type[apsw.Error], first: int, lasts: int, kinds: tuple[str, ...]) -> None:
        self.error, self.first, self.last, self.kinds = error, first, first + lasts, kinds
        self.changes = 0

    def __call__(self, change: Change) -> None:
        if change.kind not in self.kinds:
            return
        self.changes += 1
        if self.first <= self.changes < self.last:
            raise self.error("as asked")


def tell(history: History, turns: int) -> Iterator[StoreError]:
    """Everything that happens, with what could not be written left out; what the store said then."""
    for step in steps(history, turns):
        before = len(history.entries)
        try:
            step()
        except StoreError as error:
            assert len(history.entries) == before, "what was refused must not have taken effect"
            yield error
        except UsageError:
            continue  # about something that could not be written before


def opened(store: Store) -> History:
    """The session, as soon as the disk lets it be opened."""
    for _ in range(100):
        try:
            return store.open("s")
        except StoreError as error:
            assert not isinstance(error, SessionHeld)
    raise AssertionError("the disk recovered, and the store did not open")


def live_through(disk: Failing, folder: Path) -> int:
    """A session on this disk; how many errors its user saw."""
    store = Store(folder / "s.db", heartbeat=False, connect=connecting(Watched("failing", disk)))
    history = opened(store)
    errors = list(tell(history, 2))
    disk.first = disk.last = 10**9
    history.user("space is back")
    assert store.log.load("s").entries == tuple(encode_entry(entry) for entry in history.entries)
    assert not violations(store.read("s"))
    assert not store.check()
    assert store.summary("s").turns == len(history.turns)
    store.close()
    return len(errors)


CASES = {
    "the disk is full": (apsw.FullError, 40, ("write", "truncate")),
    "one write fails": (apsw.IOError, 1, ("write", "truncate")),
    "one sync fails": (apsw.IOError, 1, ("sync",)),
    "nothing works for a while": (apsw.IOError, 15, ("write", "sync", "truncate")),
}


@pytest.mark.parametrize("case", CASES)
def test_an_error_at_any_write_is_said_and_survived(case: str, quick_folder: Path) -> None:
    """A typed error, no false acknowledgement, and afterwards the store is what the history is."""
    error, lasts, kinds = CASES[case]
    tried = errors = 0
    few = kinds == ("sync",)  # all of them
    for first in range(1 if few else 1 + ROTATION, 10_000, 1 if few else SHARE):
        (folder := quick_folder / str(first)).mkdir()
        disk = Failing(error, first, lasts, kinds)
        errors += live_through(disk, folder)
        tried += 1
        if disk.changes < first:
            break  # the session does not write that often
    assert tried > 10 and errors


def test_a_full_disk_is_named(quick_folder: Path) -> None:
    """The error says what is wrong and what to do."""
    store = Store(quick_folder / "s.db", heartbeat=False)
    history = store.open("s")
    with store.log.database.read_connection() as connection:
        pages = connection.execute("PRAGMA page_count").get
        connection.execute(f"PRAGMA max_page_count={pages}").fetchall()
    with pytest.raises(StoreError, match="the disk is full; free some space"):
        history.user("x" * 100_000)
    with store.log.database.read_connection() as connection:
        connection.execute("PRAGMA max_page_count=100000").fetchall()
    history.user("y")
    assert [turn.blocks[0].text for turn in store.read("s").turns] == ["y"]  # type: ignore[union-attr]
    store.close()
