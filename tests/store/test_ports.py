"""What a store does, by its port: leases with epochs, appends, drafts."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnout.errors import SessionHeld
from turnout.store import Lease, Record, SessionHeader, SessionLog, Store, Tally
from turnout.store.holder import this_process


def test_the_sqlite_log_is_a_session_log(store: Store) -> None:
    """It has every method of the port."""
    log: SessionLog = store.log
    for name in ("take", "renew", "release", "append", "draft", "load", "list"):
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


def test_a_released_session_is_free(store: Store, quick_folder: Path) -> None:
    """Another store can take it at once."""
    lease = store.log.take(SessionHeader("s"), this_process(), 30)
    with Store(quick_folder / "s.db", heartbeat=False) as other:
        with pytest.raises(SessionHeld, match="close it there, or fork it"):
            other.open("s")
        store.log.release(lease)
        other.open("s")
