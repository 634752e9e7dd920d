"""Which target answers: failover, round-robin, resting targets, and how long one waits."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from typing import Any

import pytest
from tests.session.talk import events, everything, session, shown, statuses, virtually

from turnout.errors import ProviderError
from turnout.model import ModelTurn
from turnout.session.events import Complete, Failed
from turnout.session.retry import Budget, RetryPolicy
from turnout.session.routing import Router
from turnout.simulate import Call, HttpError, MidStreamError, Say, Think
from turnout.streaming.events import TextDelta
from turnout.targets.target import find_target as target

PARIS = Call("weather", {"city": "Paris"})
GPT, CLAUDE, GEMINI = map(target, ("openai:gpt-5.1", "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"))


def asked(talk: Any) -> list[str]:
    """Who answered, reply by reply."""
    return [turn.origin.provider for turn in talk.history.turns if isinstance(turn, ModelTurn)]


def how_long(talk: Any) -> tuple[Any, float]:
    """The last event, and how much virtual time it took to come."""

    async def timed() -> tuple[Any, float]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        return (await everything(talk))[-1], loop.time() - began

    return virtually(timed())


class Always:
    """Chance that is no chance: the given share of what could be."""

    def __init__(self, share: float) -> None:
        self.share = share

    def uniform(self, a: float, b: float) -> float:
        return a + self.share * (b - a)


# Waiting


@pytest.mark.parametrize("after", [7, formatdate(1_000_007, usegmt=True)])
def test_both_forms_of_retry_after_are_heeded(after: Any) -> None:
    """Seconds, or a date: the server is not asked before, and hardly later."""
    talk, transport = session(
        [HttpError("rate_limit", retry_after=after), "Hi."], wall_clock=lambda: 1_000_000.0
    )
    last, took = how_long(talk)
    assert isinstance(last, Complete) and 7 <= took <= 7.5 and len(transport.exchanges) == 2


def test_a_wait_beyond_the_budget_is_not_begun() -> None:
    """Who is told to come back in an hour says so at once."""
    talk, transport = session([HttpError("rate_limit", retry_after=3600), "Hi."])
    last, took = how_long(talk)
    assert isinstance(last, Failed) and last.kind == "rate_limit" and took == 0
    assert isinstance(last.error, ProviderError) and last.error.retry_after == 3600
    assert len(transport.exchanges) == 1


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_waiting_has_full_jitter_under_a_ceiling_that_doubles(share: float) -> None:
    """Anything from nothing to the ceiling; attempts and waiting are bounded by one budget."""
    budget = Budget(RetryPolicy(attempts=9, wait=1e9, base=0.5, cap=20.0), Always(share))
    error = ProviderError("busy", kind="overloaded")
    steps = [budget.after(error, others=False) for _ in range(9)]
    assert [step.delay for step in steps[:8]] == [share * min(20.0, 0.5 * 2**n) for n in range(8)]
    assert steps[-1].action == "give_up"


def test_one_budget_bounds_a_turn() -> None:
    """A server that is down for good ends the turn after the attempts it may cost."""
    talk, transport = session(
        [HttpError("overloaded")] * 50, chance=Always(1.0), retries=RetryPolicy(wait=3.0)
    )
    last, took = how_long(talk)
    assert isinstance(last, Failed) and last.kind == "overloaded"
    assert took == pytest.approx(0.5 + 1.0) and len(transport.exchanges) == 3


def test_quota_is_not_waited_for() -> None:
    """An exhausted quota fails at once: waiting would not help."""
    talk, transport = session([HttpError("quota")] * 3)
    seen = events(talk)
    assert isinstance(seen[-1], Failed) and seen[-1].kind == "quota"
    assert len(transport.exchanges) == 1


def test_a_rate_limit_is_told_from_a_quota() -> None:
    """Both are 429: the one is waited out, the other goes elsewhere or fails."""
    talk, transport = session([HttpError("rate_limit"), "Hi."])
    assert isinstance(events(talk)[-1], Complete)
    assert [seen.status for seen in transport.exchanges] == [429, 200]
    talk, transport = session([HttpError("quota"), "Hi."], GPT, fallback=[CLAUDE])
    assert isinstance(events(talk)[-1], Complete)
    assert asked(talk) == ["anthropic"] and transport.exchanges[0].status == 429


# Going elsewhere


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded", "server", "quota", "auth", "not_found"])
def test_failover_for_every_reason_that_another_may_not_share(kind: Any) -> None:
    """The next target is asked at once, without waiting."""
    talk, _ = session([HttpError(kind), "Hi."], GPT, fallback=[CLAUDE])
    last, took = how_long(talk)
    assert isinstance(last, Complete) and took == 0 and asked(talk) == ["anthropic"]


def test_an_error_in_mid_stream_goes_elsewhere_too() -> None:
    """What had been shown is taken back, and another target answers."""
    script = [[Say("He"), MidStreamError("overloaded", after=2)], "Hello."]
    talk, _ = session(script, CLAUDE, fallback=[GPT])
    assert shown(events(talk)) == "Hello." and asked(talk) == ["openai"]


def test_a_context_that_is_too_long_goes_to_a_larger_model() -> None:
    """Not to the next one, which is smaller still, but to one with a larger window."""
    places = ["anthropic:claude-sonnet-4-5", "deepseek:deepseek-chat", "gemini:gemini-3.8-flash"]
    talk, _ = session([HttpError("context_too_long"), "Hi."], places[0], fallback=places[1:])
    seen = events(talk)
    assert isinstance(seen[-1], Complete) and asked(talk) == ["gemini"] and statuses(seen) == ["switched"]


def test_failover_goes_to_the_next_target_and_stays_there() -> None:
    """Overloaded: the next target answers, this turn and the next ones."""
    places = ["anthropic:claude-sonnet-4-5", "openai:gpt-5.1"]
    talk, _transport = session(
        [HttpError("overloaded"), "From the other.", "Again."],
        places[0],
        fallback=places[1:],
        route="failover",
    )
    seen = events(talk)
    assert statuses(seen) == ["switched"] and shown(seen) == "From the other."
    events(talk, "again")
    assert talk.target.origin.provider == "openai"


def test_s_121_failover_inside_a_tool_loop() -> None:
    """A result of one provider's call goes to another, with everything that one insists on."""
    for other in (
        "anthropic:claude-sonnet-4-5",
        "gemini:gemini-3-pro",
        "kimi:kimi-k2.5",
        "deepseek:deepseek-reasoner",
    ):
        talk, transport = session(
            [[Think("hm"), PARIS], HttpError("overloaded"), "There."],
            "openai:gpt-5.1",
            fallback=[other],
            thinking=True,
        )
        assert shown(events(talk)) == "There."
        assert transport.refusals == []


def test_round_robin_takes_turns() -> None:
    """Each request goes to the next target."""
    places = ["openai:gpt-5.1", "anthropic:claude-sonnet-4-5", "mistral:mistral-large-latest"]
    talk, transport = session(["a", "b", "c", "d"], places[0], fallback=places[1:], route="round-robin")
    for _ in range(4):
        events(talk)
    asked = [turn.origin.provider for turn in talk.history.turns if isinstance(turn, ModelTurn)]
    assert asked == ["openai", "anthropic", "mistral", "openai"]
    assert transport.refusals == []


def test_a_choice_sticks_until_it_fails() -> None:
    """The target that took over stays, also when the first one has recovered; then the first is back."""
    script = [HttpError("overloaded"), "two", "three", HttpError("overloaded"), "four"]
    talk, _ = session(script, GPT, fallback=[CLAUDE])
    for _ in range(3):
        events(talk)
    assert asked(talk) == ["anthropic", "anthropic", "openai"]


def test_a_switch_by_the_user_outlives_a_failure_of_what_was_in_flight() -> None:
    """The user chose another target in mid reply; when that reply breaks, the user's choice is next."""
    talk, _ = session([[Say("He"), MidStreamError("overloaded", after=2)], "Hello."], GPT, fallback=[CLAUDE])

    async def switching() -> None:
        async for event in talk.run("go"):
            if isinstance(event, TextDelta):
                talk.switch("mistral:mistral-large-latest")

    virtually(switching())
    assert asked(talk) == ["mistral"] and talk.target.origin.provider == "mistral"


# Resting


def test_a_target_that_keeps_failing_rests_longer_each_time() -> None:
    """Three failures in a row open the breaker: 30 s, then 60 s; one success closes it."""
    router = Router([GPT, CLAUDE], "failover")
    for _ in range(2):
        router.note_failure(GPT, 0)
    assert router.choose(0) == GPT
    router.note_failure(GPT, 0)
    assert router.choose(29) == CLAUDE
    router.current = GPT
    assert router.choose(31) == GPT
    router.note_failure(GPT, 31)
    assert router.choose(90) == CLAUDE
    router.current = GPT
    assert router.choose(92) == GPT
    router.note_success(GPT)
    router.note_failure(GPT, 92)
    assert router.choose(92) == GPT
    for _ in range(2):
        router.note_failure(GPT, 92)
    assert router.choose(121) == CLAUDE
    router.current = GPT
    assert router.choose(123) == GPT


def test_when_all_rest_the_one_whose_rest_ends_first_is_asked() -> None:
    """A session never stands still because everyone rests."""
    router = Router([GPT, CLAUDE, GEMINI], "round-robin")
    for late, place in enumerate((GPT, GEMINI, CLAUDE)):
        for _ in range(3):
            router.note_failure(place, late)
    assert router.choose(5) == GPT


def test_round_robin_passes_over_who_rests() -> None:
    """The others take turns meanwhile."""
    router = Router([GPT, CLAUDE, GEMINI], "round-robin")
    for _ in range(3):
        router.note_failure(CLAUDE, 0)
    assert [router.choose(1).origin.provider for _ in range(4)] == ["openai", "gemini", "openai", "gemini"]
    assert [router.choose(40).origin.provider for _ in range(3)] == ["openai", "anthropic", "gemini"]


def test_who_asked_to_be_left_alone_is_not_asked_by_a_later_turn_either() -> None:
    """A target that named a time is not asked before it: the next turn waits, or fails, without a request."""
    talk, transport = session([HttpError("rate_limit", retry_after=300), "Hi."])
    assert isinstance(events(talk)[-1], Failed) and len(transport.exchanges) == 1

    async def later() -> list[Any]:
        loop = asyncio.get_running_loop()
        talk.router.note_failure(talk.target, loop.time(), 300)
        early = (await everything(talk))[-1]
        await asyncio.sleep(301)
        return [early, (await everything(talk))[-1]]

    early, late = virtually(later())
    assert isinstance(early, Failed) and "rate limited; retry in" in str(early.error)
    assert isinstance(late, Complete) and len(transport.exchanges) == 2


def test_a_time_that_is_named_while_a_key_is_fetched_counts() -> None:
    """A subagent is rate limited while another waits for its key: the other's does not leave early."""

    async def key() -> str:
        await asyncio.sleep(5)
        return "key"

    talk, _ = session(["Hi."], api_key=key)

    async def waiting() -> tuple[Any, float]:
        loop = asyncio.get_running_loop()
        loop.call_later(2, talk.router.note_failure, talk.target, 2.0, 30.0)
        return (await everything(talk))[-1], loop.time()

    last, at = virtually(waiting())
    assert isinstance(last, Complete) and at >= 32
