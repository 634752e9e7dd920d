"""The log: what may be written, what a write changes, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, call_id, conversation, find, model, settled, started, system, user

from turnout.errors import UsageError
from turnout.history.log import KEPT_VIEWS, History
from turnout.model import (
    Compaction,
    ModelTurn,
    Note,
    Origin,
    Outcome,
    Rewind,
    Settled,
    Text,
    Thinking,
    ToolCall,
    UserTurn,
)


def codes(history: History) -> list[str]:
    return [item.code for item in history.diagnostics]


def open_history(*names: str) -> History:
    return conversation(user("go"), model(*(call(name) for name in names)))


# Outcomes


@pytest.mark.parametrize("first", ["complete", "error", "denied"])
def test_the_first_real_outcome_stands(first: Any) -> None:
    """Another one takes no effect, is kept as a note, and is named."""
    history = open_history("a")
    id = find(history, "a")
    assert history.settle(id, Outcome(first, "one")) is True
    assert history.settle(id, Outcome("complete", "two")) is False
    assert history.interaction(id).outcome == Outcome(first, "one")
    assert codes(history) == ["repeated_outcome"]
    assert history.diagnostics[0].detail == f"complete after {first}"
    assert (history.diagnostics[0].layer, history.diagnostics[0].call_id) == ("history", id)
    (note,) = history.notes
    assert (note.kind, note.data["call_id"]) == ("repeated_outcome", id)
    assert note.data["outcome"]["content"][0]["text"] == "two"


def test_the_same_outcome_again_leaves_no_note() -> None:
    """There is nothing in it that is not on record."""
    history = open_history("a")
    id = find(history, "a")
    assert history.settle(id, Outcome("complete", "one"))
    assert not history.settle(id, Outcome("complete", "one"))
    assert codes(history) == ["repeated_outcome"] and history.notes == ()


@pytest.mark.parametrize("before", [Outcome("interrupted", synthetic=True), Outcome("cancelled", "stopped")])
def test_a_real_outcome_replaces_one_that_was_made_up(before: Outcome) -> None:
    """While the turn is open: the tool ended after all."""
    history = open_history("a")
    id = find(history, "a")
    history.settle(id, before)
    assert history.settle(id, Outcome("complete", "done")) is True
    assert history.interaction(id).status == "complete"
    assert [(item.code, item.detail) for item in history.diagnostics] == [
        ("replaced_outcome", f"{before.status} gave way to complete")
    ]


def test_what_was_made_up_replaces_nothing() -> None:
    """Neither a real outcome nor another that was made up."""
    history = open_history("a", "b")
    history.settle(find(history, "a"), Outcome("complete", "done"))
    history.settle(find(history, "b"), Outcome("interrupted", synthetic=True))
    for name in ("a", "b"):
        assert not history.settle(find(history, name), Outcome("cancelled", synthetic=True))
    assert [item.status for item in history.ledger] == ["complete", "interrupted"]


def test_an_outcome_after_its_turn_is_too_late() -> None:
    """The conversation went on: kept as a note, and nothing that was sent changes."""
    history = open_history("a")
    id = find(history, "a")
    history.user("never mind")
    before = history.turns, history.interaction(id)
    assert history.settle(id, Outcome("complete", "done")) is False
    assert (history.turns, history.interaction(id)) == before
    assert codes(history) == ["sealed_open_call", "late_outcome"]
    assert [note.kind for note in history.notes] == ["late_outcome"]


def test_an_outcome_of_a_call_that_was_rewound_is_too_late() -> None:
    """The call is in the log, and no longer in the conversation."""
    history = open_history("a")
    id = find(history, "a")
    history.rewind("h.1")
    assert history.settle(id, Outcome("complete", "done")) is False
    assert history.diagnostics[-1].code == "late_outcome"
    assert history.diagnostics[-1].detail == "complete after rewind"


def test_an_outcome_of_no_call_is_refused() -> None:
    """Nothing is written."""
    history = open_history("a")
    entries = list(history.entries)
    with pytest.raises(UsageError, match="is not in this history; settle only calls that were appended"):
        history.settle("hist_tool_nobody", Outcome("complete"))
    assert history.entries == entries


# Starting


def test_a_call_starts_once_and_before_its_outcome() -> None:
    """Anything else is refused."""
    history = open_history("a", "b")
    history.start(find(history, "a"))
    with pytest.raises(UsageError, match="was started already; a call runs once"):
        history.start(find(history, "a"))
    history.settle(find(history, "b"), Outcome("denied", "no"))
    with pytest.raises(UsageError, match=r"is settled \(denied\); run only open calls"):
        history.start(find(history, "b"))
    with pytest.raises(UsageError, match="not in this history"):
        history.start("hist_tool_nobody")


def test_a_start_keeps_the_arguments_that_were_changed() -> None:
    """Without any the call's own stand."""
    history = conversation(user("go"), model(call("a", path="x"), call("b", path="y")))
    history.start(find(history, "a"))
    history.start(find(history, "b"), {"path": "z"})
    assert [item.arguments for item in history.ledger] == [{"path": "x"}, {"path": "z"}]
    assert [item.changed_arguments for item in history.ledger] == [None, {"path": "z"}]


# Sealing


@pytest.mark.parametrize(
    ("scheduled", "starts", "reason"),
    [
        (False, False, "unknown"),
        (False, True, "stopped"),
        (True, False, "did_not_run"),
        (True, True, "stopped"),
    ],
)
def test_an_open_call_is_answered_by_what_is_known_of_it(scheduled: bool, starts: bool, reason: str) -> None:
    """It ran and was stopped; it did not run; or, where others run the calls, nobody knows."""
    history = open_history("a")
    history.scheduled = scheduled
    if starts:
        history.start(find(history, "a"))
    history.user("go on")
    outcome = history.interaction(find(history, "a")).outcome
    assert outcome == Outcome("interrupted", synthetic=True, reason=reason)
    assert codes(history) == ["sealed_open_call"]


def test_one_start_says_that_calls_are_ours_to_run() -> None:
    """So a call beside it that was not started did not run."""
    history = open_history("a", "b")
    assert not history.scheduled
    history.start(find(history, "a"))
    assert history.scheduled
    history.seal()
    assert [item.outcome.reason for item in history.ledger if item.outcome] == ["stopped", "did_not_run"]


def test_a_seal_closes_the_turn_for_good() -> None:
    """Also in a log that is told again: what decided is an entry."""
    history = open_history("a")
    assert history.open_turn is not None and history.final == 1
    history.seal()
    assert history.open_turn is None and history.open_calls == () and history.final == 2
    again = History.replay(history.entries, "h")
    assert again.open_turn is None
    assert again.settle(find(again, "a"), Outcome("complete", "late")) is False


def test_a_seal_of_nothing_writes_nothing() -> None:
    """A turn without calls is never open."""
    history = conversation(user("go"), model("done"))
    entries = list(history.entries)
    history.seal()
    assert history.entries == entries


def test_a_seal_of_real_outcomes_needs_no_note() -> None:
    """Nothing could replace them."""
    history = conversation(user("go"), model(call("a")), settled("a"))
    history.seal()
    assert history.notes == () and history.open_turn is None


# Turns


def test_keys_count_up_and_are_given_once() -> None:
    """A key in use is passed over."""
    history = conversation(user("go"), model("x"))
    assert history.next_key() == "h.3" and history.next_key() == "h.4"
    history.append(UserTurn("h.5", (Text("mine"),)))
    assert history.next_key() == "h.6"
    assert history.user("again").key == "h.7"


def test_the_key_of_a_draft_that_was_thrown_away_is_spent() -> None:
    """Its calls may have been seen under ids that were made of it."""
    history = conversation(user("go"))
    history.note("discarded", {"turn_key": "h.2"})
    assert history.user("again").key == "h.3"
    history.note("other", {"turn": "h.4"})
    assert history.user("again").key == "h.4"


@pytest.mark.parametrize("key", ["", "a|b"])
def test_a_key_that_would_part_an_id_is_refused(key: str) -> None:
    """Of a history and of a turn: ids are made of them."""
    with pytest.raises(UsageError, match="cannot be the key of a history"):
        History(key)
    with pytest.raises(UsageError, match="cannot be a turn key"):
        History("h").append(UserTurn(key, (Text("x"),)))


def test_a_key_is_used_once_even_after_a_rewind() -> None:
    """Rewound turns keep their keys."""
    history = conversation(user("go"), model("x"))
    history.rewind("h.1")
    with pytest.raises(UsageError, match=r"h\.2 is in use"):
        history.append(UserTurn("h.2", (Text("x"),)))


def test_a_call_is_used_once_even_after_a_rewind() -> None:
    """Rewound calls keep their ids."""
    history = open_history("a")
    turn = history.turns[1]
    assert isinstance(turn, ModelTurn)
    history.rewind("h.1")
    with pytest.raises(UsageError, match="is already in the history"):
        history.append(ModelTurn("h.9", turn.origin, turn.blocks))


def test_calls_of_one_turn_have_ids_of_their_own() -> None:
    """An id that repeats or is not canonical is refused."""
    origin, twin = Origin("openai", "", "m"), ToolCall("hist_tool_x", "a")
    with pytest.raises(UsageError, match="is already in the history"):
        History("h").append(ModelTurn("h.1", origin, (twin, twin)))
    with pytest.raises(UsageError, match="is not canonical"):
        History("h").append(ModelTurn("h.1", origin, (ToolCall("call_1", "a"),)))


@pytest.mark.parametrize("block", [ToolCall("hist_tool_x", "a"), Thinking("hm")])
def test_only_models_call_and_think(block: Any) -> None:
    """A turn of the user cannot hold calls or thinking."""
    with pytest.raises(UsageError, match=f"a {type(block).__name__} cannot be in a UserTurn"):
        History("h").append(UserTurn("h.1", (block,)))
    with pytest.raises(UsageError, match="is not a turn"):
        History("h").append(block)


def test_a_reply_says_why_it_stopped() -> None:
    """For its calls, or at its end, or as it is told."""
    history = History("h")
    stops = [history.reply("openai:gpt-5.1", blocks).stop for blocks in ("done", [call("a")])]
    assert [*stops, history.reply("openai:gpt-5.1", "cut", stop="length").stop] == [
        "end",
        "tool_calls",
        "length",
    ]


def test_two_calls_of_the_same_name_and_id_in_one_reply_are_two() -> None:
    """Their place among the calls is part of the canonical id; the text between does not count."""
    history = conversation(user("go"), model(call("a", "1"), "and", call("a", "1")))
    assert len({item.call.id for item in history.ledger}) == 2
    assert [item.call.id for item in history.ledger] == [
        call_id("openai", "1", "a", "h.2", place) for place in (0, 1)
    ]
    plain = conversation(user("go"), model(call("a", "1"), call("a", "1")))
    assert [item.call.id for item in plain.ledger] == [item.call.id for item in history.ledger]


def test_what_is_refused_changes_nothing() -> None:
    """Not even what was open is sealed."""
    history = open_history("a")
    entries = list(history.entries)
    with pytest.raises(UsageError):
        history.append(UserTurn("a|b", (Text("x"),)))
    assert history.entries == entries and len(history.open_calls) == 1


def test_a_writer_that_fails_leaves_the_history_as_it_was() -> None:
    """It is told before anything takes effect."""
    written: list[Any] = []

    def write(entry: Any) -> None:
        if len(written) == 2:
            raise OSError("full")
        written.append(entry)

    history = History("h", writer=write)
    history.user("go")
    history.reply("openai:gpt-5.1", [call("a")])
    with pytest.raises(OSError, match="full"):
        history.settle(find(history, "a"), Outcome("complete", "x"))
    assert history.entries == written and history.open_calls


# Compaction, rewind, fork


def long_history() -> History:
    """h.1 user, h.2 a, h.3 user, h.4 b (open)."""
    return conversation(
        user("one"), model(call("a")), settled("a", "A"), user("two"), model(call("b")), started("b")
    )


def test_a_compaction_hides_what_it_covers() -> None:
    """But for what is pinned; what was open is sealed first."""
    history = long_history()
    history.compact("h.3", "short", pinned=["h.1"])
    assert [turn.key for turn in history.turns] == ["h.1", "h.4"]
    assert (history.summary, history.compacted_count, history.generation) == ("short", 2, 1)
    assert history.open_turn is None and history.interaction(find(history, "b")).status == "interrupted"
    assert [item.call.name for item in history.ledger] == ["a", "b"]  # nothing is forgotten


@pytest.mark.parametrize("through", [1, 2, 3, 4])
def test_a_compaction_covers_the_named_turn_and_those_before(through: int) -> None:
    """The turns after it stay visible."""
    history = long_history()
    history.compact(f"h.{through}", "short")
    assert [turn.key for turn in history.turns] == [f"h.{at}" for at in range(through + 1, 5)]
    assert history.compacted_count == 4 - through


def test_results_are_shortened_wherever_they_stand() -> None:
    """Without a summary, and one after the other."""
    history = long_history()
    a, b = find(history, "a"), find(history, "b")
    history.compact(shortened={a: "A…"})
    history.compact(shortened={b: "B…"})
    assert history.shortened_results == {a: "A…", b: "B…"} and history.summary == ""
    assert len(history.turns) == 4 and history.generation == 2


@pytest.mark.parametrize(
    ("through", "more", "why"),
    [
        ("", {}, "nothing to compact"),
        ("h.9", {}, "turn h.9 is not visible"),
        ("h.1", {"pinned": ["h.2"]}, "turn h.2 is not compacted"),
        ("h.1", {"shortened": {"hist_tool_x": "…"}}, "call hist_tool_x is not in this history"),
    ],
)
def test_a_compaction_of_what_is_not_there_is_refused(through: str, more: Any, why: str) -> None:
    """The message names the turn or call."""
    history = long_history()
    entries = list(history.entries)
    with pytest.raises(UsageError, match=why):
        history.compact(through, "short", **more)
    assert history.entries == entries


def test_a_rewind_goes_to_the_end_of_a_turn() -> None:
    """With the outcomes of its calls; the log keeps everything."""
    history = long_history()
    history.rewind("h.2")
    assert [turn.key for turn in history.turns] == ["h.1", "h.2"]
    assert [item.status for item in history.ledger] == ["complete"]
    assert history.generation == 1 and isinstance(history.entries[-1], Rewind)
    history.rewind()
    assert (list(history.turns), len(history.ledger), history.generation) == ([], 0, 2)
    with pytest.raises(UsageError, match="not in this history, or was rewound"):
        history.rewind("h.2")


def test_a_rewind_settles_what_was_open() -> None:
    """The log holds no call without an outcome, whether it is still in view or not."""
    history = long_history()
    b = find(history, "b")
    history.rewind("h.1")
    assert [entry.call_id for entry in history.entries if isinstance(entry, Settled)][-1] == b
    assert codes(history) == ["sealed_open_call"]


def test_a_rewind_undoes_a_compaction() -> None:
    """The turns before it are visible again."""
    history = long_history()
    history.compact("h.3", "short")
    history.rewind("h.2")
    assert [turn.key for turn in history.turns] == ["h.1", "h.2"] and history.summary == ""


def test_a_fork_shares_what_came_before() -> None:
    """Everything up to a turn, and with it what belongs to that turn; both go their own way."""
    history = long_history()
    child = history.fork("child", at="h.2")
    assert [turn.key for turn in child.turns] == ["h.1", "h.2"]
    assert [item.status for item in child.ledger] == ["complete"]
    assert child.user("mine").key == "child.1"
    assert len(history.turns) == 4 and history.open_calls
    whole = history.fork("whole")
    assert whole.open_calls == () and whole.interaction(find(whole, "b")).status == "interrupted"
    with pytest.raises(UsageError, match="the key of the parent"):
        history.fork("h")
    with pytest.raises(UsageError, match="not in this history, or was rewound"):
        history.fork("child", at="h.9")


# Views and notes


def test_views_are_kept_by_name_and_the_oldest_go() -> None:
    """Looking at one again makes it the youngest."""
    history = History("h")
    for at in range(KEPT_VIEWS):
        history.view(at, list)
    first = history.view(0, list)
    assert first == [] and history.view(0, list) is first
    history.view("new", list)
    assert set(history._views) == {0, *range(2, KEPT_VIEWS), "new"}


def test_notes_are_entries_that_no_turn_sees() -> None:
    """They do not change the conversation."""
    history = conversation(user("go"), system("be brief"))
    history.note("mine", {"a": (1, 2)})
    assert history.notes == (Note("mine", {"a": [1, 2]}),) and len(history.turns) == 2
    assert isinstance(history.entries[-1], Note) and not any(isinstance(e, Settled) for e in history.entries)


def test_a_new_history_holds_nothing() -> None:
    """No turns, calls or summary, and nothing is open."""
    history = History("h")
    assert (history.turns, len(history.ledger), history.summary, history.shortened_results) == ([], 0, "", {})
    assert (history.compacted_count, history.generation, history.final, history.open_turn) == (0, 0, 0, None)


def test_a_writer_is_asked_to_keep_what_it_lets_wait() -> None:
    """Where it can; a plain function writes at once."""
    asked: list[str] = []

    class Writer:
        def __call__(self, entry: Any) -> None: ...

        def commit(self) -> None:
            asked.append("commit")

    History("h", writer=Writer()).commit()
    History("h", writer=lambda entry: None).commit()
    History("h").commit()
    assert asked == ["commit"]


def test_ledgers_are_equal_when_they_tell_the_same() -> None:
    """Equality is by interactions."""
    one, same, other = long_history().ledger, long_history().ledger, open_history("a").ledger
    assert one == same and one != other and one != "a ledger"
    assert one[find(long_history(), "a")].status == "complete"


# What readers of a log ask


def test_standing_entries_are_those_that_no_rewind_undid() -> None:
    """Keys and calls that were rewound are still known, so that they are not used twice."""
    history = conversation(user("go"), model(call("a")), settled("a"), user("more"))
    first, second, third = (turn.key for turn in history.turns)
    undone = find(history, "a")
    history.rewind(first)
    assert history.standing == history.entries[:1]
    assert history.knows_key(second) and history.knows_key(third) and not history.knows_key("other")
    assert history.knows_call(undone) and not history.knows_call("other")


def test_an_entry_fits_when_the_history_holds_what_it_names() -> None:
    """An outcome needs its call, and a compaction needs its turn."""
    history = open_history("a")
    done = Outcome("complete", "one")
    assert history.fits(Settled(find(history, "a"), done)) and not history.fits(Settled("other", done))
    assert history.fits(Compaction(history.turns[0].key)) and not history.fits(Compaction("other"))


def test_a_replay_can_replace_what_does_not_fit() -> None:
    """The reader sees the history as it was before each entry."""

    def read(history: History, entry: Any) -> Any:
        return entry if history.fits(entry) else Note("left_out", len(history.entries))

    entries = [*open_history("a").entries, Settled("other", Outcome("complete", "one"))]
    history = History.replay(entries, "h", read=read)
    assert history.entries == [*entries[:2], Note("left_out", 2)]
