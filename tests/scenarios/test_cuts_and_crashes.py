"""S-107, S-109, S-112, S-119, S-122: cuts, crashes and tools that went away, on the history itself."""

from __future__ import annotations

import pytest
from tests.build import call, conversation, find, model, settled, shape, started, user
from tests.scenarios.test_pairing_and_order import CLAUDE, STRICT, body, roles

from turnout import History, Outcome, UsageError, render, transcript
from turnout.history.check import violations
from turnout.history.codec import dump_history, load_history
from turnout.model import ModelTurn


def long_talk() -> History:
    """Three questions, each answered with a call."""
    steps = []
    for number in "123":
        steps += [user(f"question {number}"), model(call("f", number)), settled(number, f"result {number}")]
        steps += [model(f"answer {number}")]
    return conversation(*steps, user("and?"))


@pytest.mark.parametrize("cut", range(13))
def test_s_107_a_compaction_never_splits_a_pair(cut: int) -> None:
    """Wherever it cuts, and after a second cut too, every call still has its one result."""
    history = long_talk()
    keys = [turn.key for turn in history.turns]
    if cut >= len(keys):
        return
    history.compact(keys[cut], "what was said before")
    again = [turn.key for turn in history.turns]
    for target in STRICT:
        body(history, target)
    if len(again) > 1:
        history.compact(again[0], "and again")
    assert violations(history) == []
    for target in STRICT:
        body(history, target)
        report = transcript(history, target).report
        assert report.calls == report.results and report.synthetic == ()


def test_s_107_a_cut_cannot_be_placed_inside_a_turn() -> None:
    """A compaction names a turn; there is no way to name a place between a call and its result."""
    history = long_talk()
    with pytest.raises(UsageError, match="compact through one of"):
        history.compact(find(history, "1"), "no")
    assert history.generation == 0


@pytest.mark.parametrize("target", STRICT)
def test_s_109_a_summary_is_said_by_the_user(target: str) -> None:
    """It never stands as the model's word before a result, also when the cut falls into a tool loop."""
    history = conversation(
        user("go"),
        model(call("f", "1")),
        settled("1"),
        model(call("f", "2")),
        settled("2"),
        model(call("f", "3")),
    )
    models = [turn for turn in history.turns if isinstance(turn, ModelTurn)]
    history.compact(models[1].key, "two calls were made", pinned=[history.turns[0].key])
    messages = transcript(history, target).messages
    assert shape(messages) == ["user", "user", "model(f)", "tool(f)"]
    assert "two calls were made" in messages[0].blocks[0].text
    body(history, target)


def test_s_112_a_late_result_changes_nothing_that_was_sent() -> None:
    """A tool that was given up ends after the conversation went on: its result is a note."""
    history = conversation(user("go"), model(call("f")), started("f"), user("never mind"))
    before = render(history, CLAUDE).body
    assert history.settle(find(history, "f"), Outcome("complete", "at last")) is False
    assert render(history, CLAUDE).body == before
    assert [note.kind for note in history.notes] == ["late_outcome"]


@pytest.mark.parametrize("entries", range(1, 9))
def test_s_119_a_log_that_stops_anywhere_goes_on_validly(entries: int) -> None:
    """Killed after any entry: the rest of the log is a history that every provider accepts."""
    history = conversation(
        user("go"),
        model(call("f", "1"), call("f", "2")),
        started("1"),
        started("2"),
        settled("1"),
        model("done"),
    )
    resumed = History.replay(history.entries[:entries], "h")
    resumed.user("where were we?")
    for target in STRICT:
        body(resumed, target)
    assert violations(resumed) == []


def test_s_119_a_stored_history_may_begin_with_a_byte_order_mark() -> None:
    """A file that an editor touched is read all the same."""
    history = long_talk()
    assert load_history(b"\xef\xbb\xbf" + dump_history(history)).turns == history.turns


@pytest.mark.parametrize("target", STRICT)
def test_s_122_a_tool_that_is_gone_is_still_declared(target: str) -> None:
    """History calls a tool that nobody offers any more: a stub declares it, and the report says so."""
    history = conversation(user("go"), model(call("gone")), settled("gone"), user("next"))
    other = {"name": "here", "description": "", "parameters": {"type": "object", "properties": {}}}
    request = render(history, target, tools=[other])
    assert b'"gone"' in request.body
    assert any("only the history knows: gone" in change for change in request.report.changes)
    body(history, target, tools=[other])


def test_s_122_without_any_tool_the_stubs_may_not_be_called() -> None:
    """With no tool on offer the choice is none: stubs are there to be valid."""
    history = conversation(user("go"), model(call("gone")), settled("gone"), user("next"))
    assert body(history, CLAUDE)["tool_choice"] == {"type": "none"}
    assert roles(body(history, CLAUDE)["messages"]) == ["user", "assistant", "user"]
