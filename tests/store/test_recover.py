"""What a crash left open is settled when the session is opened."""

from __future__ import annotations

from tests.build import call, find
from tests.store.stores import MODEL

from turnout.history.check import violations
from turnout.model import ModelTurn, Origin, Outcome, Text, ToolCall
from turnout.store import Store


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


def test_what_cannot_be_read_is_kept_and_said(file_store: Store) -> None:
    """A damaged entry and those that depend on it become notes in their place; the rest stands."""
    store = file_store
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
