"""Whole sessions: listed, renamed, pruned, deleted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.store.stores import MODEL, talk

from turnout.errors import SessionHeld, UsageError
from turnout.store import Store


def test_sessions_are_listed_with_what_one_wants_to_know(open_at: Any) -> None:
    """Title, last model, turns, cost and when; latest first."""
    now = [1000.0]
    with open_at(wall_clock=lambda: now[0]) as store:
        talk(store, "a", "How do I\nboil an egg?", "Slowly.", "Thanks", "Welcome")
        now[0] = 2000.0
        talk(store, "b", "x" * 200)
        first, second = store.list()
    assert (first.id, first.title, first.turns, first.model) == ("b", "x" * 79 + "…", 1, "")
    assert (second.title, second.turns, second.model) == ("How do I", 4, MODEL)
    assert second.cost is not None and second.cost > 0
    assert (second.created, second.updated) == (1000.0, 1000.0)
    assert second.holder is None


def test_a_subagents_session_lies_under_its_parents(store: Store) -> None:
    """Not in the list of sessions, but in the list of its parent; deleted with it."""
    talk(store, "p", "go")
    talk(store, "p.sub1", "do this", parent="p")
    talk(store, "p.sub1.sub1", "and this", parent="p.sub1")
    assert [line.id for line in store.list()] == ["p"]
    assert [(line.id, line.kind) for line in store.list(within="p")] == [("p.sub1", "subagent")]
    assert len(store.list(subagents=True)) == 3
    assert sorted(store.delete("p")) == ["p", "p.sub1", "p.sub1.sub1"]
    assert store.list(subagents=True) == []


def test_a_title_of_the_users_stays(store: Store) -> None:
    """Renamed sessions keep their name whatever is said next."""
    talk(store, "a", "hello")
    store.rename("a", "My title")
    talk(store, "a", "hello again")
    assert store.summary("a").title == "My title"
    with pytest.raises(UsageError, match="no session 'nope'"):
        store.rename("nope", "x")


def test_old_sessions_are_pruned_then_the_oldest(open_at: Any) -> None:
    """By age and by size; what is open stays; a dry run only says."""
    now = [0.0]
    with open_at(wall_clock=lambda: now[0]) as store:
        for day in range(6):
            now[0] = day * 86_400.0
            talk(store, f"s{day}", "x" * 10_000)
        store.open("s0")
        size = store.summary("s1").size
        assert [line.id for line in store.prune(older_than=3.5 * 86_400, dry_run=True)] == ["s1"]
        assert len(store.list()) == 6
        assert [line.id for line in store.prune(older_than=3.5 * 86_400)] == ["s1"]
        before = size_of(store)
        assert [line.id for line in store.prune(larger_than=3 * size)] == ["s2", "s3"]
        assert {line.id for line in store.list()} == {"s0", "s4", "s5"}
        assert size_of(store) < before
        assert not [fault for fault in store.check() if "the server runs" not in fault]


def size_of(store: Store) -> int:
    """The bytes of the file, or of the entries in the database."""
    if store.backend.kind == "sqlite":
        return store.path.stat().st_size
    return sum(line.size for line in store.list(subagents=True))


def test_what_is_deleted_is_gone_from_the_file(file_store: Store) -> None:
    """Not only from the list."""
    store = file_store
    talk(store, "a", "my secret word is xylophone")
    store.search("xylophone")
    store.delete("a")
    store.close()
    files = [store.path, *store.path.parent.glob("s.db-*")]
    assert all(b"xylophone" not in file.read_bytes() for file in files)


def test_an_open_session_is_not_deleted(store: Store) -> None:
    """Nor one whose subagent is at work."""
    talk(store, "p", "go")
    store.open("p.sub1", parent="p")
    with pytest.raises(SessionHeld, match=r"session p\.sub1 is open"):
        store.delete("p")
    assert store.knows("p")


def test_each_client_keeps_so_many_sessions(open_at: Any) -> None:
    """The oldest of a client with too many go first; other clients and one's own are counted apart."""
    now = [0.0]
    store = open_at(wall_clock=lambda: now[0])
    for number in range(4):
        for client in ("a/", "b/", ""):
            now[0] += 1.0
            talk(store, f"{client}{number}", "hi") if client != "b/" or number < 2 else None
    gone = [line.id for line in store.prune(keep=2)]
    assert gone == ["a/0", "0", "a/1", "1"]
    assert {line.id for line in store.list()} == {"a/2", "a/3", "b/0", "b/1", "2", "3"}
