"""A limit on money: it can be counted for whoever may be asked, or nothing is asked."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talk import events, session, virtually

from turnout import CompressPolicy, Limits, SubagentLimits, UsageError
from turnout.errors import LimitReached
from turnout.model import Origin, Usage
from turnout.providers import prices
from turnout.providers.prices import Price, price, set_price
from turnout.session.events import Complete, Failed
from turnout.simulate import Say

PRICED, UNPRICED, LOCAL = "openai:gpt-5.1", "groq:newest-model", "ollama:newest-model"


@pytest.fixture(autouse=True)
def own_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "PRICES_BY_PROVIDER", {})


@pytest.mark.parametrize(
    "settings",
    [
        {"target": UNPRICED},
        {"fallback": [UNPRICED]},
        {"compress": CompressPolicy(target=UNPRICED)},
        {"subagents": SubagentLimits(target=UNPRICED)},
    ],
)
def test_a_limit_that_cannot_be_counted_refuses_to_start(settings: dict[str, Any]) -> None:
    """Someone who may be asked has no price: nothing is sent, and the words name them and both ways on."""
    talk, transport = session(["Hi."], **{"target": PRICED, "limits": Limits(cost=2.0), **settings})
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, UsageError)
    said = str(failed.error)
    assert "$2 " in said and f'[models."{UNPRICED}"] price = {{input = …, output = …}}' in said
    assert "set_price" in said and "leave the limit out" in said
    assert not transport.exchanges and not talk.history.turns


def test_a_limit_is_looked_at_again_after_a_switch() -> None:
    """The user switches to a model without a price: the next prompt is refused, until they switch back."""
    talk, transport = session(["Hi.", "Again."], PRICED, limits=Limits(cost=2.0))
    assert isinstance(events(talk)[-1], Complete)
    talk.switch(UNPRICED)
    assert isinstance(events(talk)[-1], Failed) and len(transport.exchanges) == 1
    talk.switch(PRICED)
    assert isinstance(events(talk)[-1], Complete)


@pytest.mark.parametrize("target", [PRICED, LOCAL])
def test_what_has_a_price_is_asked(target: str) -> None:
    """A model of the table, and one on this machine, which costs nothing."""
    talk, _ = session(["Hi."], target, limits=Limits(cost=2.0))
    assert isinstance(events(talk)[-1], Complete)


def test_without_a_limit_on_money_no_price_is_needed() -> None:
    """Tokens can always be counted."""
    talk, _ = session(["Hi."], UNPRICED, limits=Limits(tokens=1_000_000))
    assert isinstance(events(talk)[-1], Complete)


def test_a_price_that_was_given_counts() -> None:
    """A million tokens in at $3 and one out at $8: the answer says what it cost, and the limit holds."""
    set_price("newest-model", Price(3, 8), provider="groq")
    reply = [Say("Hi."), Usage(input=1_000_000, output=1_000_000)]
    talk, _ = session([reply, "Again."], UNPRICED, limits=Limits(cost=11.0))
    assert virtually(talk.ask("go")).cost == pytest.approx(11)
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, LimitReached)


def test_a_price_at_one_provider_is_not_one_elsewhere() -> None:
    """It comes before the table there, for models whose names begin so, and changes nothing anywhere else."""
    set_price("gpt-5.1", Price(9, 9), provider="openrouter")
    assert price(Origin.parse("openrouter:openai/gpt-5.1-2026")) == Price(9, 9)
    assert price(Origin.parse("openai:gpt-5.1")) == Price(1.25, 10, 0.125)
    set_price("llama", Price(1, 1), provider="ollama")
    assert price(Origin.parse("ollama:llama3.3")) == Price(1, 1) and price(Origin.parse("ollama:x")) == Price(
        0, 0
    )
