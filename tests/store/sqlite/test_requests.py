"""Requests to cancel and answers in a file: for the one that has the session open, and gone with it."""

from __future__ import annotations

from turnout.model import Note, Outcome
from turnout.store import Store

WAITING = {"session": "s", "call_id": "c", "name": "pay", "arguments": {"amount": 5}}


def test_a_request_to_cancel_is_for_the_holder_only(store: Store) -> None:
    """One that holds an older lease does not see it; it ends when it was followed."""
    store.open("s")
    lease = store.journal("s").lease
    cancels = store.backend.cancels
    assert cancels.request_cancel("s") and not cancels.request_cancel("nope")
    assert cancels.cancelled_sessions([lease]) == {"s"}
    assert cancels.cancelled_sessions([]) == set()
    cancels.clear_cancel(lease)
    assert cancels.cancelled_sessions([lease]) == set()


def test_the_table_says_what_the_log_says(store: Store) -> None:
    """A note adds a waiting call, an outcome or a rewind takes it away, a deleted session leaves nothing."""
    history = store.open("s")
    history.user("go")
    history.note("waiting_call", WAITING)
    (call,) = store.waiting_calls()
    assert (call.session, call.arguments, call.answered) == ("s", {"amount": 5}, False)
    assert store.backend.waiting_calls.put_answer("s", "c", b"{}")
    assert not store.backend.waiting_calls.put_answer("s", "c", b"[]")
    assert store.backend.waiting_calls.read_answers("s") == {"c": b"{}"}
    history.rewind(history.turns[0].key)
    assert store.waiting_calls() == []
    history.note("waiting_call", WAITING)
    store.release("s")
    store.delete("s")
    assert store.waiting_calls() == []
    assert isinstance(history.entries[-1], Note) and Outcome("complete").status == "complete"
