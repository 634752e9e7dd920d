"""Appends and leases in the SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnout.errors import SessionHeld, StoreError, UsageError
from turnout.history.log import History
from turnout.model import Text, UserTurn
from turnout.store import Store


def test_an_append_made_twice_is_made_once(store: Store) -> None:
    """The ids of entries make it so: a write whose outcome is unknown can be made again."""
    history = store.open("s")
    history.user("one")
    journal = store.journal("s")
    journal.patient = True
    history.user("two")
    waiting, length = list(journal._waiting), journal._length
    journal.commit()
    journal._waiting, journal._length = waiting, length
    journal.commit()

    assert store.read("s").turns == history.turns
    assert store.summary("s").turns == 2


def test_a_session_is_held_within_one_process_too(store: Store, quick_folder: Path) -> None:
    """By the same store or another: one writer is one writer."""
    store.open("s")
    with pytest.raises(SessionHeld, match="in this store already"):
        store.open("s")
    with (
        Store(quick_folder / "s.db", heartbeat=False) as other,
        pytest.raises(SessionHeld, match="this process"),
    ):
        other.open("s")
    store.release("s")
    store.open("s")


def test_a_session_that_was_deleted_takes_no_more(store: Store, quick_folder: Path) -> None:
    """Its writer hears of it."""
    history = store.open("s")
    with store.log.database.write_transaction() as connection:
        connection.execute("DELETE FROM session")
    with pytest.raises(StoreError, match="was deleted"):
        history.user("hello?")
    assert not history.turns


def test_a_whole_history_can_be_added(store: Store) -> None:
    """Under its own key, once."""
    history = History("old")
    history.append(UserTurn("old.1", (Text("hello"),)))
    assert store.add(history, title="From elsewhere") == "old"
    assert store.summary("old").title == "From elsewhere"
    assert store.open("old").turns == history.turns
    with pytest.raises(UsageError, match="there is a session 'old' already"):
        store.add(history)
