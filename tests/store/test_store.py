"""The store of sessions: open, read, fork, add, count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.build import call, find
from tests.store.stores import MODEL, talk

from turnout.errors import UsageError
from turnout.model import Media, Origin, Outcome, Text
from turnout.store import Store, default_path


def test_a_session_is_what_it_was(store: Store) -> None:
    """Whatever a history holds comes back from the store as it went in."""
    history = store.open("s", system="Be brief.")
    history.user(["look", Media("image/png", data="aGk=")])
    history.reply(MODEL, [Text("I look."), call("a", path="x"), call("b")])
    history.start(find(history, "a"), {"path": "y"})
    history.settle(find(history, "a"), Outcome("complete", "é漢 \u2028"))
    history.seal()
    history.compact(history.turns[0].key, "We looked.")
    history.user("go on")
    history.rewind(history.turns[0].key)
    store.release("s")

    again = store.open("s")

    assert again.entries == history.entries
    assert (again.turns, again.ledger, again.summary) == (history.turns, history.ledger, history.summary)
    assert again.system == "Be brief."
    assert again.next_key() == history.next_key()
    assert not again.diagnostics


def test_a_patient_journal_writes_when_it_is_told_to(store: Store) -> None:
    """Entries wait for the commit, and are one commit then."""
    history = store.open("s")
    journal = store.journal("s")
    journal.patient = True
    history.user("one")
    history.user("two")
    assert (journal.unwritten_count, len(store.read("s").entries)) == (2, 0)
    history.commit()
    assert (journal.unwritten_count, len(store.read("s").entries)) == (0, 2)


def test_a_fork_shares_the_beginning(store: Store) -> None:
    """At any turn, by key or number; each then goes its own way."""
    talk(store, "a", "one", "two", "three")
    assert store.fork("a", at=2) == "a.fork1"
    assert store.fork("a", at="a.1", into="b") == "b"
    assert [len(store.read(id).turns) for id in ("a", "a.fork1", "b")] == [3, 2, 1]
    talk(store, "b", "another way")
    assert [turn.blocks[0].text for turn in store.read("b").turns] == ["one", "another way"]  # type: ignore[union-attr]
    assert len({turn.key for turn in store.read("b").turns}) == 2
    assert store.summary("b").source == "a@a.1"
    assert store.summary("a").turns == 3
    with pytest.raises(UsageError, match="there is no turn 9"):
        store.fork("a", at=9)


def test_counters_are_kept_by_day(open_at: Any) -> None:
    """Added up over processes, to compare providers by."""
    now = [0.0]
    for _ in range(2):
        with open_at(wall_clock=lambda: now[0]) as store:
            store.counters("tool_calls_total", Origin.parse(MODEL), 3)
            now[0] += 86_400
            store.counters("tool_calls_total", Origin.parse(MODEL), 1)
    with open_at() as store:
        assert [(count.day, count.count) for count in store.counters.read()] == [
            ("1970-01-03", 1),
            ("1970-01-02", 4),
            ("1970-01-01", 3),
        ]


def test_the_store_lies_where_the_user_keeps_data() -> None:
    """XDG, or where they say."""
    assert default_path({"HOME": "/h"}) == Path("/h/.local/share/turnout/sessions.db")
    assert default_path({"HOME": "/h", "XDG_DATA_HOME": "/d"}) == Path("/d/turnout/sessions.db")
    assert default_path({"HOME": "/h", "XDG_DATA_HOME": "relative"}) == Path(
        "/h/.local/share/turnout/sessions.db"
    )
    assert default_path({"HOME": "/h", "TURNOUT_STORE": "/x/y.db"}) == Path("/x/y.db")
