"""The state of a log: what is visible, open, summarised and undone."""

from __future__ import annotations

from tests.build import call, conversation, find, model, settled, user

from turnout.history.state import State, entries_through
from turnout.model import Compaction, Entry, Note, Rewind


def state_of(entries: list[Entry]) -> State:
    log: list[Entry] = []
    state = State(log)
    for entry in entries:
        log.append(entry)
        state.apply(entry)
    return state


def test_the_same_entries_give_the_same_state() -> None:
    """A state follows from the log alone."""
    history = conversation(user("go"), model(call("a"), call("b")), settled("a"))
    state = state_of(history.entries)
    assert (state.turns, state.ledger, state.final) == (history.turns, history.ledger, 1)
    assert [item.call.name for item in state.open_calls()] == ["b"]


def test_a_rewind_keeps_keys_and_ids() -> None:
    """They are known, so that they are not used twice; the generation rises."""
    history = conversation(user("go"), model(call("a")), settled("a"))
    state = state_of([*history.entries, Rewind(history.turns[0].key)])
    assert len(state.turns) == 1 and state.generation == 1 and state.standing == history.entries[:1]
    assert state.is_call(find(history, "a")) and history.turns[1].key in state.keys


def test_a_compaction_hides_turns_and_keeps_pinned_ones() -> None:
    """The summary stands for the others."""
    history = conversation(user("one"), model("two"), user("three"))
    first, second, third = (turn.key for turn in history.turns)
    state = state_of([*history.entries, Compaction(second, "short", pinned=(first,))])
    assert [turn.key for turn in state.turns] == [first, third]
    assert (state.summary, state.compacted) == ("short", 2)


def test_the_entries_of_a_turn_are_kept_with_it() -> None:
    """Outcomes and notes of a turn belong to it; the next turn does not."""
    history = conversation(user("go"), model(call("a")), settled("a"))
    history.note("seen")
    history.user("more")
    kept = entries_through(history.entries, history.turns[1].key)
    assert kept == history.entries[:4] and isinstance(kept[-1], Note)
