"""Fallback by answer: a reply that is filtered, refused, empty or judged so is asked for elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talk import everything, session

from turnout import ModelTurn, Origin, Routing, Text, ToolCall, UsageError
from turnout.model import Opaque
from turnout.session.answer_faults import answer_fault
from turnout.session.events import Complete, Discarded, Failed, Status
from turnout.simulate import HttpError, Reply, Say

ORIGIN = Origin("openai", "", "gpt-5.2")
REFUSED = Reply((Say("I cannot help with that."),), stop="refused")
EMPTY = Reply((), stop="end")


def turn(*blocks: Any, stop: Any = "end", raw: str = "") -> ModelTurn:
    return ModelTurn("t1", ORIGIN, blocks, stop=stop, raw_stop=raw)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (turn(Text("hi")), None),
        (turn(), "empty"),
        (turn(Text("  \n")), "empty"),
        (turn(ToolCall("c1", "f", {})), None),
        (turn(Opaque("image", {"id": "x"})), None),
        (turn(stop="paused"), None),
        (turn(stop="length"), None),
        (turn(Text("No."), stop="refused", raw="refusal"), "refusal"),
        (turn(stop="refused", raw="SAFETY"), "content_filter"),
        (turn(stop="refused", raw="content_filter"), "content_filter"),
        (turn(stop="refused", raw="guardrail_intervened"), "content_filter"),
    ],
)
def test_a_reply_is_an_answer_or_has_one_fault(given: ModelTurn, fault: str | None) -> None:
    """Calls, images and paused turns are answers; a filter is told from a refusal by the provider's word."""
    assert answer_fault(given) == fault


def events_of(script: Any, **settings: Any) -> tuple[list[Any], Any]:
    talk, _ = session(script, "anthropic:claude-sonnet-5", fallback=["openai:gpt-5.2"], **settings)
    return asyncio.run(everything(talk)), talk


def final(events: list[Any]) -> tuple[str, str]:
    done = events[-1]
    assert isinstance(done, Complete), done
    return done.turn.origin.provider, done.turn.text


@pytest.mark.parametrize(("bad", "word"), [(REFUSED, "refusal"), (EMPTY, "empty")])
def test_an_answer_that_is_not_wanted_goes_to_the_next_target(bad: Reply, word: str) -> None:
    """What was shown is taken back, the next target answers, and the cost of both is counted."""
    events, talk = events_of([bad, "Fine."], route=Routing(on=("refusal", "empty")))
    assert final(events) == ("openai", "Fine.")
    switched = [each for each in events if isinstance(each, Status) and each.kind == "switched"]
    assert len(switched) == 1 and switched[0].detail.startswith(word)
    assert len(talk.turns) == 2
    kept = [each.origin.provider for each in talk.history.turns if isinstance(each, ModelTurn)]
    assert kept == ["openai"]
    if bad is REFUSED:
        assert any(isinstance(each, Discarded) for each in events)


def test_without_being_asked_for_a_refusal_is_the_answer() -> None:
    """Failover as it was: answers that arrived are not judged."""
    events, _ = events_of([REFUSED])
    assert final(events) == ("anthropic", "I cannot help with that.")


def test_the_last_target_keeps_its_answer() -> None:
    """When every target refuses, the last refusal stands: no error, no endless round."""
    events, talk = events_of([REFUSED, REFUSED], route=Routing(on=("refusal",)))
    assert final(events)[0] == "openai" and len(talk.turns) == 2


def test_a_filter_that_answers_with_an_error_counts_too() -> None:
    """Azure refuses a filtered prompt with status 400; with `on` the next target is asked."""
    filtered = HttpError("content_filter")
    events, _ = events_of([filtered, "Fine."], route=Routing(on=("content_filter",)))
    assert final(events) == ("openai", "Fine.")
    assert isinstance(events_of([filtered, "Fine."])[0][-1], Failed)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_of_the_user_may_judge(is_async: bool) -> None:
    """It gets the reply and gives back a reason in words; the status tells it."""

    def judge(reply: ModelTurn) -> str | None:
        return "too short" if len(reply.text) < 4 else None

    async def judge_later(reply: ModelTurn) -> str | None:
        return judge(reply)

    routing = Routing(judge=judge_later if is_async else judge)
    events, talk = events_of(["Hm.", "A longer answer."], route=routing)
    assert final(events) == ("openai", "A longer answer.")
    assert any(isinstance(each, Status) and each.detail.startswith("too short at") for each in events)
    assert talk.telemetry.read("took_over_judged", "openai") == 1


def test_a_judge_that_fails_ends_the_run() -> None:
    """The error names the function; the history is valid and holds no reply."""

    def judge(_: ModelTurn) -> bool:
        raise ValueError("oh")

    events, talk = events_of(["Hm."], route=Routing(judge=judge))
    assert isinstance(events[-1], Failed) and "judge" in str(events[-1].error)
    assert not any(isinstance(each, ModelTurn) for each in talk.history.turns)


def test_who_gave_way_and_who_took_over_is_counted() -> None:
    """By a fixed word, for failures and for answers."""
    _, talk = events_of([HttpError("rate_limit"), "Fine."])
    assert talk.telemetry.read("gave_way_rate_limit", "anthropic") == 1
    assert talk.telemetry.read("took_over_rate_limit", "openai") == 1


def test_a_word_that_is_not_a_fault_is_refused() -> None:
    """A setting without effect would go unnoticed."""
    with pytest.raises(UsageError, match="refusal"):
        Routing(on=("refused",))  # type: ignore[arg-type]


# End of life


def test_a_model_past_its_end_is_told_once_in_a_session() -> None:
    """One status, however many requests; before that day, and for a current model, none."""

    def told(day: float, target: str) -> int:
        talk, _ = session(["one", "two"], target, wall_clock=lambda: day)
        found = [*asyncio.run(everything(talk)), *asyncio.run(everything(talk))]
        return sum(isinstance(each, Status) and each.kind == "end_of_life" for each in found)

    before, after = 1796000000.0, 1796169600.0  # 29 November and 2 December 2026
    assert told(after, "anthropic:claude-sonnet-4-5") == 1
    assert told(before, "anthropic:claude-sonnet-4-5") == 0
    assert told(after, "anthropic:claude-sonnet-5") == 0
