"""The second computation of a state, which the checker compares with the first."""

from __future__ import annotations

from tests.build import call, conversation, find, model, settled, user

from turnout.history.log import History
from turnout.history.reference_state import ReferenceState


def reference_of(history: History) -> ReferenceState:
    reference = ReferenceState()
    for entry in history.entries:
        reference.apply(entry)
    return reference


def test_both_computations_agree() -> None:
    """Through outcomes, a compaction and a rewind."""
    history = conversation(user("one"), model(call("a")), settled("a"), user("two"), model("three"))
    history.compact(history.turns[1].key, "short")
    history.user("four")
    history.rewind(history.turns[0].key)
    reference = reference_of(history)
    assert reference.turns == history.turns and reference.summary == history.summary
    assert list(reference.ledger) == [item.call.id for item in history.ledger]
    assert reference.standing == history.standing


def test_a_turn_may_change_until_it_is_sealed() -> None:
    """An open call, or a synthetic outcome that a real one could replace."""
    history = conversation(user("go"), model(call("a")))
    assert reference_of(history).may_change
    history.seal()
    assert not reference_of(history).may_change


def test_calls_are_known_by_their_turn() -> None:
    """With the outcome that the log records."""
    history = conversation(user("go"), model(call("a"), call("b")), settled("a"))
    recorded = reference_of(history).calls_of_turn(history.turns[1].key)
    assert [each.call.id for each in recorded] == [find(history, "a"), find(history, "b")]
    assert [each.outcome is not None for each in recorded] == [True, False]
    assert reference_of(history).is_visible(history.turns[0].key)
