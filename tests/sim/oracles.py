"""What must hold, asked of a run at every step and at its end."""

from __future__ import annotations

from typing import Any

from tests.laws.targets import TARGETS
from tests.sim.wires import Line
from tests.strict_check import problems_of

from turnout.history.check import violations
from turnout.history.log import History
from turnout.model import ModelTurn, ToolSpec
from turnout.plain import dumps
from turnout.rendering import check as rendering_check
from turnout.session.session import Session
from turnout.targets.request import render, transcript
from turnout.targets.target import Target


def sound(history: History) -> None:
    """The log is sound by its own rules."""
    assert violations(history) == []


def readable(history: History, place: Target, tools: tuple[ToolSpec, ...] = (), **options: Any) -> None:
    """This provider would take the history as it stands now."""
    told = transcript(history, place)
    assert rendering_check.violations(told.messages) == [], place.origin
    request = render(history, place, tools=tools, **options)
    assert problems_of(place, request) == [], place.origin


def readable_by_all(history: History, tools: tuple[ToolSpec, ...] = ()) -> None:
    for place in TARGETS:
        readable(history, place, tools)


def replayable(history: History) -> None:
    """The log alone tells the same story."""
    again = History.replay(history.entries, history.key, system=history.system)
    assert again.turns == history.turns and list(again.ledger) == list(history.ledger)
    assert (again.summary, again.shortened_results) == (history.summary, history.shortened_results)


def never_the_same_refused(line: Line) -> None:
    """Bytes that were refused as invalid are not sent again."""
    refused = [sent for sent in line.inner.exchanges if sent.status in (400, 422) and sent.problems]
    assert len({sent.body for sent in refused}) == len(refused)


def never_taken_back_twice(history: History) -> None:
    """A reply that was taken back is not in the history, and none is taken back twice."""
    voided = [note.data["turn_key"] for note in history.notes if note.kind == "discarded"]
    assert len(set(voided)) == len(voided)
    assert not {turn.key for turn in history.entries if isinstance(turn, ModelTurn)} & set(voided)


def never_run_from_half_a_reply(history: History) -> None:
    """Calls of a reply that broke off did not run."""
    for turn in history.turns:
        if isinstance(turn, ModelTurn) and turn.stop == "interrupted":
            assert not any(history.interaction(call.id).started for call in turn.tool_calls)


def never_mixes_calls(history: History, line: Line) -> None:
    """The calls of a whole reply are those that the model made, each with its own arguments."""
    for turn in history.entries:
        if isinstance(turn, ModelTurn) and turn.tool_calls and turn.stop in ("end", "tool_calls"):
            assert tuple((call.name, dumps(call.arguments)) for call in turn.tool_calls) in line.said, turn


def nothing_held(session: Session) -> None:
    """No call of the tree runs, waits or keeps a path any more."""
    running = session.scheduler.tree.running
    assert running.room == running.parallel and not running.given_up
    assert not running._waiting and not running._pumps
