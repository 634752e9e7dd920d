"""The guard of a run: what counts as going round in circles, and what does not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talk import events, session, shown, statuses, virtually

from turnout.model import Outcome, ToolCall
from turnout.session.events import Failed
from turnout.session.guards import Guard, WatchedCall
from turnout.simulate import Call, HttpError
from turnout.tools.declare.tool import tool

PARIS = Call("weather", {"city": "Paris"})


def watched(name: str, arguments: dict[str, Any] | None = None, **how: Any) -> WatchedCall:
    outcome = Outcome(how.pop("status", "complete"), "as before")
    return WatchedCall(ToolCall("id", name, arguments or {}), outcome, **how)


GOOD, WRONG = watched("good"), watched("wrong", status="error", invalid=True)


def test_one_wrong_call_beside_valid_ones_counts_for_its_tool() -> None:
    """Three rounds in a row with a wrong call of one tool are enough, whatever runs beside it."""
    guard = Guard()
    rounds = [[watched("good", {"n": n}), WRONG] for n in range(3)]
    assert [guard.watch(each) for each in rounds] == ["", "", "corrections"]


@pytest.mark.parametrize("between", [[watched("wrong")], [GOOD]])
def test_a_round_without_a_wrong_call_of_the_tool_ends_the_row(between: list[WatchedCall]) -> None:
    """The model has corrected itself, or went on to something else."""
    guard = Guard()
    rounds = [[WRONG], [watched("good", {"n": 1}), WRONG], between, [WRONG], [watched("good"), WRONG]]
    assert [guard.watch(each) for each in rounds] == [""] * 5


def test_wrong_calls_of_different_tools_count_apart_unless_nothing_was_valid() -> None:
    """A slip here and a slip there is not a model that is stuck; three rounds of nothing but slips are."""
    slips = [watched(f"tool{n}", status="error", invalid=True) for n in range(3)]
    guard = Guard()
    assert [guard.watch([watched("good", {"n": n}), slip]) for n, slip in enumerate(slips)] == [""] * 3
    guard.start_over()
    assert [guard.watch([slip]) for slip in slips] == ["", "", "corrections"]


def test_polling_is_no_circle() -> None:
    """Repeats are a poll's nature; what is repeated beside it, and a poll that fails, still count."""
    poll = watched("poll", polls=True)
    guard = Guard()
    assert {guard.watch([poll]) for _ in range(50)} == {""}
    assert [guard.watch([poll, GOOD]) for _ in range(3)] == ["", "", "identical"]
    failing = watched("poll", polls=True, status="error")
    guard.start_over()
    assert [guard.watch([failing]) for _ in range(3)] == ["", "", "identical"]


@pytest.mark.parametrize(("polls", "asked"), [(True, 7), (False, 4)])
def test_a_tool_that_polls_may_be_asked_again_and_again(polls: bool, asked: int) -> None:
    """`@tool(polls=True)`: six times the same answer, and the model still has its tools."""

    @tool(risk="read", polls=polls)
    async def job() -> str:
        """How the job stands."""
        return "running"

    script: list[Any] = [[Call("job", {})]] * 6
    talk, transport = session(
        lambda replying: script.pop() if script and replying.may_call else "Done.", tools=[job]
    )
    seen = events(talk)
    assert shown(seen) == "Done." and len(transport.exchanges) == asked
    assert ("guard" in statuses(seen)) is not polls


def test_a_run_that_is_resumed_begins_with_a_clean_slate() -> None:
    """What was repeated before a failure does not count after it: the model has its tools again."""
    talk, transport = session([[PARIS], [PARIS], HttpError("auth"), [PARIS], "Mild."])
    assert isinstance(events(talk)[-1], Failed)
    seen = virtually(_all(talk.go_on()))
    assert shown(seen) == "Mild." and "guard" not in statuses(seen)
    assert not any(b'"tool_choice":"none"' in exchange.body for exchange in transport.exchanges)


async def _all(run: Any) -> list[Any]:
    return [event async for event in run]
