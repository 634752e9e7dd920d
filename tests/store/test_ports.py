"""What a store does, by its port: leases with epochs, appends, drafts."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.errors import SessionHeld, UsageError
from turnout.store import Lease, Record, SessionHeader, SessionLog, Store, Tally
from turnout.store.holder import this_process


def test_both_logs_are_session_logs(store: Store) -> None:
    """It has every method of the port."""
    log: SessionLog = store.log
    for name in ("take", "renew", "release", "append", "draft", "load", "list", "find", "add", "read_after"):
        assert callable(getattr(log, name)), name


def test_an_old_epoch_cannot_append(store: Store) -> None:
    """The next lease of a session ends the one before."""
    log = store.log
    first = log.take(SessionHeader("s"), this_process(), 30)
    second = log.take(SessionHeader("s"), this_process(), 30)
    assert second.epoch == first.epoch + 1 and not log.renew(first) and log.renew(second)
    log.append(second, 0, [Record("1", b"{}")], Tally(turns=1))
    with pytest.raises(SessionHeld, match="taken over"):
        log.append(first, 1, [Record("2", b"{}")], Tally())
    assert log.load("s").entries == (b"{}",)


def test_a_draft_is_replaced_and_ends_with_its_reply(store: Store) -> None:
    """`replied` in the tally deletes it."""
    log = store.log
    lease: Lease = log.take(SessionHeader("s", system="Be brief."), this_process(), 30)
    log.draft(lease, b"half")
    log.draft(lease, b"more")
    assert (log.load("s").draft, log.load("s").header.system) == (b"more", "Be brief.")
    log.append(lease, 0, [Record("1", b"{}")], Tally(replied=True))
    assert log.load("s").draft is None


def test_a_released_session_is_free(store: Store, open_at: Any) -> None:
    """Another store can take it at once."""
    lease = store.log.take(SessionHeader("s"), this_process(), 30)
    other = open_at()
    with pytest.raises(SessionHeld, match="close it there, or fork it"):
        other.open("s")
    store.log.release(lease)
    other.open("s")


def test_an_append_that_is_repeated_changes_nothing(store: Store) -> None:
    """After a lost connection the same entries may come twice; what was reported as failed gives way."""
    log = store.log
    lease = log.take(SessionHeader("s"), this_process(), 30)
    for _ in range(2):
        log.append(lease, 0, [Record("1", b"{}"), Record("2", b"{}")], Tally(turns=2))
    assert log.load("s").entries == (b"{}", b"{}")
    log.append(lease, 1, [Record("3", b"[]")], Tally())
    assert log.load("s").entries == (b"{}", b"[]")


def test_entries_are_read_by_their_place(store: Store) -> None:
    """From 1 on; what comes after a place is what a watcher has not seen."""
    history = store.open("s")
    for text in ("one", "two", "three"):
        history.user(text)
    assert [each.place for each in store.log.read_after("s", 0)] == [1, 2, 3]
    assert [each.place for each in store.log.read_after("s", 2)] == [3]
    with pytest.raises(UsageError, match="no session 'nope'"):
        store.log.read_after("nope", 0)
