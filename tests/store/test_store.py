"""The store as its users know it: sessions that are opened, listed, found, forked, deleted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.build import call, find

from turnout.errors import SessionHeld, StoreError, UsageError
from turnout.history.check import violations
from turnout.history.log import History
from turnout.model import Media, ModelTurn, Origin, Outcome, Text, ToolCall, Usage, UserTurn
from turnout.store import Store, default_path
from turnout.store.sqlite import database

MODEL = "openai:gpt-5.1"


@pytest.fixture
def store(quick_folder: Path) -> Iterator[Store]:
    with Store(quick_folder / "s.db", heartbeat=False) as opened:
        yield opened


def talk(store: Store, id: str, *said: str, **options: Any) -> History:
    """A session in which these things were said in turn, and which was closed then."""
    history = store.open(id, **options)
    for number, text in enumerate(said):
        if number % 2:
            history.reply(MODEL, text, usage=Usage(1000, 500))
        else:
            history.user(text)
    store.release(id)
    return history


# One session


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


def test_a_started_call_without_outcome_is_answered_as_stopped(store: Store) -> None:
    """Once, as an entry; a call that was not started stays open, to be run or sealed."""
    history = store.open("s")
    history.user("go")
    history.reply(MODEL, [call("a"), call("b")])
    history.start(find(history, "a"))
    store.release("s")

    again = store.open("s")
    assert again.interaction(find(again, "a")).outcome == Outcome(
        "interrupted", synthetic=True, reason="stopped"
    )
    assert [item.call.name for item in again.open_calls] == ["b"]
    assert [note.code for note in again.diagnostics] == ["resumed_call"]
    again.user("what now?")
    assert again.interaction(find(again, "b")).outcome == Outcome(
        "interrupted", synthetic=True, reason="did_not_run"
    )
    assert not violations(again)
    store.release("s")
    assert len(store.open("s").entries) == len(again.entries)


def test_a_tool_that_may_run_again_stays_open(store: Store) -> None:
    """Declared safe to retry: whoever goes on runs it once more."""
    history = store.open("s")
    history.user("go")
    history.reply(MODEL, [call("a"), call("b")])
    history.start(find(history, "a"))
    history.start(find(history, "b"))
    store.release("s")

    again = store.open("s", retry_safe={"a"})

    assert [item.call.name for item in again.open_calls] == ["a"]


def test_a_draft_becomes_an_interrupted_turn(store: Store) -> None:
    """What had come of a reply stands; its calls did not run."""
    history = store.open("s")
    history.user("go")
    key = history.next_key()
    named = ToolCall("hist_tool_x", "a", {})
    turn = ModelTurn(key, Origin.parse(MODEL), (Text("I was about"), named), stop="interrupted")
    store.journal("s").draft(turn)
    store.release("s")

    again = store.open("s")

    assert again.turns[-1] == turn
    assert again.interaction("hist_tool_x").outcome == Outcome(
        "interrupted", synthetic=True, reason="did_not_run"
    )
    assert [note.code for note in again.diagnostics] == ["resumed_reply"]
    assert not violations(again)
    store.release("s")
    assert store.log.load("s").draft is None


def test_a_draft_goes_when_its_reply_has_come(store: Store) -> None:
    """Or when it was taken back: nothing of it comes up again."""
    history = store.open("s")
    for ending in (
        lambda: history.reply(MODEL, "done"),
        lambda: history.note("discarded", {"turn_key": "s.9"}),
    ):
        history.user("go")
        store.journal("s").draft(ModelTurn("s.9", Origin.parse(MODEL), (Text("half"),)))
        ending()
        assert store.log.load("s").draft is None


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


def test_what_cannot_be_read_is_kept_and_said(store: Store) -> None:
    """A damaged entry and those that depend on it become notes in their place; the rest stands."""
    history = store.open("s")
    history.user("before")
    history.reply(MODEL, [call("a")])
    history.settle(find(history, "a"), Outcome("complete", "fine"))
    history.user("after")
    store.release("s")
    with store.log.database.write_transaction() as connection:
        connection.execute(
            "UPDATE entry SET data = ? WHERE CAST(data AS TEXT) LIKE '%model_turn%'", (b'{"type":"model_tu',)
        )

    again = store.open("s")

    assert [turn.blocks for turn in again.turns] == [(Text("before"),), (Text("after"),)]
    assert [note.code for note in again.diagnostics] == ["unreadable_entry", "unreadable_entry"]
    assert "entry 2" in again.diagnostics[0].detail
    assert [note.data["place"] for note in again.notes] == [2, 3]
    again.user("and on")
    assert not violations(again)


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


# All of them


def test_sessions_are_listed_with_what_one_wants_to_know(quick_folder: Path) -> None:
    """Title, last model, turns, cost and when; latest first."""
    now = [1000.0]
    with Store(quick_folder / "s.db", wall_clock=lambda: now[0], heartbeat=False) as store:
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


def test_words_are_found_wherever_they_were_said(store: Store) -> None:
    """In prompts, replies, arguments and results; all words must be there; new ones are found at once."""
    talk(store, "a", "the blue whale", "A large animal.")
    history = store.open("b")
    history.user("look")
    history.reply(MODEL, [call("read_file", path="whales.txt")])
    history.settle(find(history, "read_file"), Outcome("complete", "Crème brûlée is blue"))

    assert {hit.session for hit in store.search("whale")} == {"a", "b"}
    assert [hit.session for hit in store.search("blue WHALE")] == ["a"]
    assert [hit.session for hit in store.search("creme brulee")] == ["b"]
    assert store.search("whale shark") == store.search("") == store.search('"*') == []
    history.reply(MODEL, "And a shark.")
    (hit,) = store.search("shark")
    assert (hit.session, hit.excerpt, hit.place) == ("b", "And a shark.", 4)
    store.release("b")
    store.delete("b")
    assert store.search("shark") == []


def test_a_title_of_the_users_stays(store: Store) -> None:
    """Renamed sessions keep their name whatever is said next."""
    talk(store, "a", "hello")
    store.rename("a", "My title")
    talk(store, "a", "hello again")
    assert store.summary("a").title == "My title"
    with pytest.raises(UsageError, match="no session 'nope'"):
        store.rename("nope", "x")


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


def test_old_sessions_are_pruned_then_the_oldest(quick_folder: Path) -> None:
    """By age and by size; what is open stays; a dry run only says."""
    now = [0.0]
    with Store(quick_folder / "s.db", wall_clock=lambda: now[0], heartbeat=False) as store:
        for day in range(6):
            now[0] = day * 86_400.0
            talk(store, f"s{day}", "x" * 10_000)
        store.open("s0")
        size = store.summary("s1").size
        assert [line.id for line in store.prune(older_than=3.5 * 86_400, dry_run=True)] == ["s1"]
        assert len(store.list()) == 6
        assert [line.id for line in store.prune(older_than=3.5 * 86_400)] == ["s1"]
        before = store.path.stat().st_size
        assert [line.id for line in store.prune(larger_than=3 * size)] == ["s2", "s3"]
        assert {line.id for line in store.list()} == {"s0", "s4", "s5"}
        assert store.path.stat().st_size < before
        assert store.check() == []


def test_what_is_deleted_is_gone_from_the_file(store: Store) -> None:
    """Not only from the list."""
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


def test_counters_are_kept_by_day(quick_folder: Path) -> None:
    """Added up over processes, to compare providers by."""
    now = [0.0]
    for _ in range(2):
        with Store(quick_folder / "s.db", wall_clock=lambda: now[0], heartbeat=False) as store:
            store.counters("tool_calls_total", Origin.parse(MODEL), 3)
            now[0] += 86_400
            store.counters("tool_calls_total", Origin.parse(MODEL), 1)
    with Store(quick_folder / "s.db", heartbeat=False) as store:
        assert [(count.day, count.count) for count in store.counters.read()] == [
            ("1970-01-03", 1),
            ("1970-01-02", 4),
            ("1970-01-01", 3),
        ]


# The file


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_nobody_else_can_read_the_store(tmp_path: Path, mask: int) -> None:
    """Folders 0700 and files 0600, whatever the umask; the WAL and its index too."""
    before = os.umask(mask)
    try:
        store = Store(tmp_path / "a" / "b" / "s.db", heartbeat=False)
        talk(store, "s", "hello")
        store.search("hello")
        history = store.open("s")
        history.user("there")
        found = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*")}
        store.close()
    finally:
        os.umask(before)
    assert found == {"b": 0o700, "s.db": 0o600, "s.db-wal": 0o600, "s.db-shm": 0o600}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_a_store_that_was_opened_wide_is_closed_to_others(tmp_path: Path) -> None:
    """Copied or restored with other permissions, it is taken back at the next start."""
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        talk(store, "s", "hello")
    (tmp_path / "s.db").chmod(0o666)
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        store.list()
    assert (tmp_path / "s.db").stat().st_mode & 0o777 == 0o600


def test_the_store_lies_where_the_user_keeps_data() -> None:
    """XDG, or where they say."""
    assert default_path({"HOME": "/h"}) == Path("/h/.local/share/turnout/sessions.db")
    assert default_path({"HOME": "/h", "XDG_DATA_HOME": "/d"}) == Path("/d/turnout/sessions.db")
    assert default_path({"HOME": "/h", "XDG_DATA_HOME": "relative"}) == Path(
        "/h/.local/share/turnout/sessions.db"
    )
    assert default_path({"HOME": "/h", "TURNOUT_STORE": "/x/y.db"}) == Path("/x/y.db")


def test_an_sqlite_that_corrupts_is_refused() -> None:
    """With what to do about it. The one that comes with turnout is fine."""
    database.check_version()
    database.check_version("3.51.3")
    database.check_version("3.53.0")
    for version in ("3.40.1", "3.51.2", "3.7.0"):
        with pytest.raises(StoreError, match=r"WAL-reset.*pip install --upgrade apsw"):
            database.check_version(version)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """Not one byte of it is changed."""
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with (
        Store(path, heartbeat=False) as store,
        pytest.raises(StoreError, match="database of another program"),
    ):
        store.list()
    assert path.read_bytes() == before
    path.write_text("no database at all " * 100)
    with Store(path, heartbeat=False) as store, pytest.raises(StoreError, match="not a store of sessions"):
        store.list()


def test_the_store_syncs_and_never_maps(store: Store) -> None:
    """The settings that everything rests on."""
    with store.log.database.read_connection() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").get
            for name in ("journal_mode", "synchronous", "mmap_size", "secure_delete", "auto_vacuum")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "mmap_size": 0,
        "secure_delete": 1,
        "auto_vacuum": 2,
    }
    store.open("s").user("x")
    store.journal("s").draft(ModelTurn("s.2", Origin.parse(MODEL), (Text("half"),)))
    with store.log.database.read_connection() as connection:
        assert connection.execute("PRAGMA synchronous").get == 2


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
