"""What a store does, by its port: leases with epochs, appends, drafts."""

from __future__ import annotations

import time
from typing import Any

import pytest

from turnout.errors import SessionHeld, UsageError
from turnout.history.waiting import WaitingCall, note_waiting
from turnout.model import ToolCall
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


def test_leases_are_read_for_many_sessions_at_once(store: Store, open_at: Any) -> None:
    """Held, lost by a process that was not heard of in time, released; unknown ones are left out."""
    short = open_at(lease=0.01)
    short.open("lost")
    store.open("held")
    store.open("free")
    store.release("free")
    time.sleep(0.05)
    found = store.log.read_leases(["held", "lost", "free", "unknown"])
    assert {id: (lease.holder is not None, lease.valid) for id, lease in found.items()} == {
        "held": (True, True),
        "lost": (True, False),
        "free": (False, False),
    }
    assert store.log.read_leases([]) == {}


def test_answers_that_nobody_has_read_are_listed(store: Store) -> None:
    """A worker looks for them twice a second, so calls that still wait are not read."""
    history = store.open("s")
    turn = history.reply("openai:gpt-5.1", [ToolCall("a", "pay", {}), ToolCall("b", "pay", {})])
    for call in turn.tool_calls:
        note_waiting(history, WaitingCall("s", call.id, "pay", {}))
    assert store.backend.waiting_calls.list_answered() == []
    store.answer("s", turn.tool_calls[1].id, "paid")
    assert store.backend.waiting_calls.list_answered() == [("s", turn.tool_calls[1].id)]


def test_what_belongs_to_a_store_is_closed_with_it(store: Store) -> None:
    """Each time that the store is closed."""
    closed: list[int] = []
    store.at_close(lambda: closed.append(1))
    store.close()
    store.list()
    store.close()
    assert len(closed) == 2
