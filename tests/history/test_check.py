"""The checker of histories: each rule has a history that it alone finds fault with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace
from tests.build import call, conversation, model, settled, user

from turnout.diagnostic import CODES
from turnout.history import check
from turnout.history.check import violations
from turnout.history.log import History
from turnout.model import (
    Compaction,
    ModelTurn,
    Note,
    Origin,
    Outcome,
    Residue,
    Rewind,
    Settled,
    Started,
    Text,
    ToolCall,
    ToolResponse,
    UserTurn,
)

WRITER = Origin("openai", "", "gpt-5.1")
HI = UserTurn("h.1", (Text("hi"),))
MORE = UserTurn("h.3", (Text("more"),))
DONE = Outcome("complete", "done")
STOPPED = Outcome("interrupted", synthetic=True, reason="did_not_run")


def tool(name: str = "a", **changed: Any) -> ToolCall:
    return replace(ToolCall(f"hist_tool_{name}", name), **changed)


def calls(*made: ToolCall, key: str = "h.2") -> ModelTurn:
    return ModelTurn(key, WRITER, made or (tool(),))


def done(name: str = "a", outcome: Any = DONE) -> Settled:
    return Settled(f"hist_tool_{name}", outcome)


def forced(value: Any, **fields: Any) -> Any:
    """A value that could not be built: what a bug or a bit flip leaves behind."""
    for name, wrong in fields.items():
        force_setattr(value, name, wrong)
    return value


LOGS: dict[str, list[Any]] = {
    "foreign_entry": [HI, "a text"],
    "bad_turn_key": [UserTurn("h|1", (Text("hi"),))],
    "repeated_turn_key": [HI, HI],
    "bad_origin": [ModelTurn("h.1", Origin(""), (Text("hi"),))],
    "foreign_block": [UserTurn("h.1", (ToolResponse("hist_tool_a", "a", DONE),))],  # type: ignore[arg-type]
    "bad_call_id": [HI, calls(tool(id="functions.a:0"))],
    "repeated_call_id": [HI, calls(), done(), calls(key="h.3")],
    "call_out_of_place": [UserTurn("h.1", (tool(),))],
    "bad_arguments": [HI, calls(forced(tool(), arguments={"x": {1, 2}}))],
    "started_unknown_call": [HI, Started("hist_tool_a")],
    "started_twice": [HI, calls(), Started("hist_tool_a"), Started("hist_tool_a")],
    "started_after_outcome": [HI, calls(), done(), Started("hist_tool_a")],
    "settled_unknown_call": [HI, calls(), done("b")],
    "bad_outcome": [HI, calls(), done(outcome=forced(Outcome("complete"), status="fine"))],
    "overwritten_outcome": [HI, calls(), done(), done(outcome=Outcome("error", "no"))],
    "changed_after_seal": [HI, calls(), done(outcome=STOPPED), MORE, done()],
    "unanswered_call": [HI, calls(tool("a"), tool("b")), done("a"), MORE],
    "seal_of_unknown_turn": [HI, calls(), done(), Note("sealed", {"turn": "h.1"})],
    "cut_at_unknown_turn": [HI, Compaction("h.9", "summary")],
    "cut_through_open_turn": [HI, calls(), Compaction("h.2", "summary")],
    "unknown_pin": [HI, Compaction("h.1", "summary", pinned=("h.9",))],
    "shortened_unknown_call": [HI, Compaction(shortened={"hist_tool_a": "short"})],
    "rewind_to_unknown_turn": [HI, Rewind("h.9")],
    "unclean_text": [UserTurn("h.1", (Text("\ud800"),))],
    "bad_residue": [ModelTurn("h.1", WRITER, (Text("hi", Residue(WRITER, {"x": {1}})),))],
    "unreadable_history": [HI, calls(), Settled(["hist_tool_a"], DONE)],  # type: ignore[arg-type]
}

MORE_LOGS: list[tuple[str, list[Any]]] = [
    ("bad_turn_key", [UserTurn("", (Text("hi"),))]),
    ("bad_origin", [forced(ModelTurn("h.1", WRITER), origin=None)]),
    ("repeated_call_id", [HI, calls(tool(), tool()), done()]),
    ("repeated_call_id", [HI, calls(), done(), Rewind("h.1"), calls(key="h.3")]),
    ("repeated_turn_key", [HI, MORE, Rewind("h.1"), MORE]),
    ("call_out_of_place", [HI, calls(), done(outcome=forced(Outcome("complete"), content=(tool("b"),)))]),
    ("bad_arguments", [HI, calls(forced(tool(), arguments=["x"]))]),
    ("bad_arguments", [HI, calls(forced(tool(), arguments={"x": float("nan")}))]),
    ("bad_arguments", [HI, calls(forced(tool(), arguments={"x": "\ud800"}))]),
    ("bad_arguments", [HI, calls(), Started("hist_tool_a", {"x": object()})]),
    ("settled_unknown_call", [HI, calls(), Rewind("h.1"), done()]),
    ("bad_outcome", [HI, calls(), done(outcome="done")]),
    ("bad_outcome", [HI, calls(), done(outcome=forced(Outcome("complete"), content=("text",)))]),
    ("overwritten_outcome", [HI, calls(), done(outcome=STOPPED), done(outcome=STOPPED)]),
    ("changed_after_seal", [HI, calls(), done(outcome=STOPPED), Note("sealed", {"turn": "h.2"}), done()]),
    ("changed_after_seal", [HI, calls(), done(outcome=STOPPED), MORE, Rewind("h.2"), done()]),
    ("unanswered_call", [HI, calls(), Note("sealed", {"turn": "h.2"})]),
    ("seal_of_unknown_turn", [HI, Note("sealed", "h.1")]),
    ("cut_at_unknown_turn", [HI, MORE, Compaction("h.1", "summary"), Compaction("h.1", "again")]),
    ("unclean_text", [HI, calls(), done(outcome=forced(Outcome("complete"), content=(Text("\0"),)))]),
    ("unclean_text", [HI, Compaction("h.1", "\udc00")]),
    ("unclean_text", [HI, calls(tool(raw_id="\ud800"))]),
]


def logged(entries: list[Any]) -> History:
    history = History("h")
    history.entries = entries
    return history


def codes(history: Any) -> set[str]:
    return {fault.code for fault in violations(history)}


@pytest.mark.parametrize("code", LOGS)
def test_each_rule_of_the_log_finds_its_fault_and_no_other_does(code: str) -> None:
    """A log that breaks one rule is reported under that rule's code alone."""
    found = violations(logged(LOGS[code]))
    assert {fault.code for fault in found} == {code}
    assert all(fault.layer == "history" and code in CODES for fault in found)


@pytest.mark.parametrize(("code", "entries"), MORE_LOGS)
def test_each_rule_holds_wherever_its_fault_may_stand(code: str, entries: list[Any]) -> None:
    """The same fault is found in outcomes, in starts, after rewinds and in other shapes."""
    assert codes(logged(entries)) == {code}


@pytest.mark.parametrize("rule", check.RULES, ids=lambda rule: rule.__name__)
def test_without_its_rule_a_fault_of_the_log_goes_unseen(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule is needed: take it away, and the log that breaks it is said to be sound."""
    monkeypatch.setattr(check, "RULES", [other for other in check.RULES if other is not rule])
    monkeypatch.setattr(check, "CLAIMS", [])
    code = rule.__name__.strip("_")
    assert code not in codes(logged(LOGS[code]))


def healthy() -> History:
    history = conversation(
        user("one"),
        model(call("a")),
        settled("a"),
        user("two"),
        model(call("b"), call("c")),
        settled("b"),
    )
    history.compact(history.turns[0].key, "they said one", shortened={call_of(history, "a"): "short"})
    history.reply("openai:gpt-5.1", [call("d"), call("e")])
    return history


def call_of(history: History, name: str) -> str:
    return next(item.call.id for item in history.ledger if item.call.name == name)


def _drop_a_turn(history: History) -> None:
    history._state.turns.pop(0)


def _lose_an_outcome(history: History) -> None:
    history._state.ledger._interactions[call_of(history, "b")] = replace(
        history.ledger[call_of(history, "b")], outcome=None
    )


def _lose_an_interaction(history: History) -> None:
    del history._state.ledger._interactions[call_of(history, "b")]


def _close_the_open_turn(history: History) -> None:
    history._state._open = None


def _open_an_old_turn(history: History) -> None:
    history._state._open = history.turns[0]  # type: ignore[assignment]


def _forget_the_summary(history: History) -> None:
    history._state.summary = ""


def _forget_what_was_shortened(history: History) -> None:
    history._state.shortened.clear()


def _forget_the_generation(history: History) -> None:
    history._state.generation = 0


CORRUPTIONS: list[tuple[str, Callable[[History], None]]] = [
    ("wrong_turns", _drop_a_turn),
    ("wrong_ledger", _lose_an_outcome),
    ("wrong_ledger", _lose_an_interaction),
    ("wrong_open_turn", _close_the_open_turn),
    ("wrong_open_turn", _open_an_old_turn),
    ("wrong_summary", _forget_the_summary),
    ("wrong_shortened", _forget_what_was_shortened),
    ("wrong_generation", _forget_the_generation),
]


def test_a_sound_history_has_no_faults() -> None:
    """With compaction, shortened results and an open turn, nothing is wrong."""
    assert violations(healthy()) == []


@pytest.mark.parametrize(
    ("code", "corrupt"), CORRUPTIONS, ids=lambda value: getattr(value, "__name__", value)
)
def test_state_that_does_not_follow_from_the_log_is_found(
    code: str, corrupt: Callable[[History], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Private state that was changed behind the log's back is named; without the rule it is not."""
    history = healthy()
    corrupt(history)
    assert code in codes(history)
    monkeypatch.setattr(check, "CLAIMS", [c for c in check.CLAIMS if c.__name__ != f"_{code}"])
    assert code not in codes(history)


class Miscounted(History):
    """A history that cannot count its final turns."""

    @property
    def final(self) -> int:
        return 7


class Unreadable(History):
    """A history whose ledger is gone."""

    @property
    def ledger(self) -> Any:
        raise KeyError("gone")


def test_a_wrong_count_of_final_turns_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to be final must be: all turns but the open one."""
    history = Miscounted("h")
    history.user("hi")
    assert codes(history) == {"wrong_final"}
    monkeypatch.setattr(check, "CLAIMS", [c for c in check.CLAIMS if c.__name__ != "_wrong_final"])
    assert codes(history) == set()


@pytest.mark.parametrize("thing", [None, 7, object(), Unreadable("h"), logged(None)])  # type: ignore[arg-type]
def test_the_checker_never_raises(thing: Any) -> None:
    """What cannot be read at all is a fault, not an exception."""
    assert codes(thing) == {"unreadable_history"}


def test_every_rule_has_its_test() -> None:
    """A new rule without a log that breaks it fails here."""
    assert {rule.__name__.strip("_") for rule in check.RULES} == set(LOGS) - {"unreadable_history"}
    tested = {code for code, _ in CORRUPTIONS} | {"wrong_final"}
    assert {claim.__name__.strip("_") for claim in check.CLAIMS} == tested
