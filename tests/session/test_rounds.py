"""The rounds of one prompt: replies and tools in turn, and what ends them."""

from __future__ import annotations

import pytest
from tests.session.talk import events, session, shown, statuses

from turnout import LimitReached
from turnout.history.check import violations
from turnout.model import UserTurn
from turnout.plain import loads
from turnout.session.events import Complete, Failed
from turnout.session.limits import Limits
from turnout.session.session import Session
from turnout.simulate import Call

PARIS = Call("weather", {"city": "Paris"})


def outcomes(talk: Session) -> list[str]:
    return [item.status for item in talk.history.ledger]


def test_a_call_that_ran_after_a_repair_is_shown_as_it_ran() -> None:
    """A model that wrote no JSON reads the arguments its result is the answer to, not an empty call."""
    talk, transport = session([[Call("weather", raw='{"city": "Oslo",}')], "Cold."])
    assert shown(events(talk)) == "Cold." and outcomes(talk) == ["complete"]
    (call,) = loads(transport.exchanges[-1].body)["messages"][1]["tool_calls"]
    assert call["function"]["arguments"] == '{"city":"Oslo"}'


def test_s_116_invalid_arguments_end_in_a_forced_answer() -> None:
    """After three rounds of invalid arguments the tools are switched off and a text is forced."""
    bad = [Call("weather", {})]
    talk, transport = session([bad, bad, bad, "I cannot."])
    seen = events(talk)
    assert shown(seen) == "I cannot." and "guard" in statuses(seen)
    assert b'"tool_choice":"none"' in transport.exchanges[-1].body
    assert talk.telemetry.read("tool_calls_invalid_args") == 3
    assert talk.telemetry.read("tool_loop_max_iterations") == 1


@pytest.mark.parametrize("calls", [[PARIS], [PARIS, Call("weather", {"city": "Oslo"})]])
def test_s_117_the_same_call_over_and_over_is_stopped(calls: list[Call]) -> None:
    """Three times the same, or the same two in turn: the model is made to answer."""
    script = [[call] for call in calls] * 12
    talk, _ = session(lambda asked: script.pop(0) if asked.may_call else "Enough.")
    seen = events(talk)
    assert shown(seen).endswith("Enough.") and "guard" in statuses(seen)


def test_s_118_the_round_limit_closes_with_one_last_request() -> None:
    """At the limit the pairs are closed and one request without tools gets the last word."""
    cities = iter(range(100))
    talk, transport = session(
        lambda asked: "Enough." if not asked.may_call else [Call("weather", {"city": str(next(cities))})],
        rounds=5,
    )
    assert shown(events(talk)) == "Enough."
    assert len(transport.exchanges) == 6 and transport.refusals == []


def test_s_67_a_call_in_spite_of_switched_off_tools_is_answered_and_ends() -> None:
    """The call gets an error, and the turn ends with our own words."""
    talk, _ = session(lambda asked: [PARIS], rounds=2, repeats=99)
    seen = events(talk)
    assert isinstance(seen[-1], Complete) and "limit on rounds" in shown(seen)
    assert outcomes(talk)[-1] == "error"
    assert violations(talk.history) == []


def test_limits_on_tokens_end_the_run() -> None:
    """A limit that is used up stops the next request, and says which it was."""
    talk, _ = session(["one", "two"], limits=Limits(tokens=1))
    events(talk)
    failed = events(talk, "more")[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, LimitReached)
    assert "tokens" in str(failed.error)


def test_one_scheduler_serves_thirty_turns() -> None:
    """A session makes one scheduler, whatever happens in it."""
    talk, _ = session([[PARIS], "ok"] * 30)
    first = talk.scheduler
    for _ in range(30):
        events(talk)
    assert talk.scheduler is first
    assert len([turn for turn in talk.history.turns if isinstance(turn, UserTurn)]) == 30
