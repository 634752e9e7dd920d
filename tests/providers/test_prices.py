"""What a reply costs, by the price of its model."""

from __future__ import annotations

import pytest

from turnout.model import Origin, Usage
from turnout.providers import prices
from turnout.providers.prices import PRICES, Price, price, set_price


@pytest.fixture(autouse=True)
def restored_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "PRICES", dict(PRICES))
    monkeypatch.setattr(prices, "PRICES_BY_PROVIDER", {})


def test_cached_input_is_part_of_the_input() -> None:
    """Most providers count cached tokens among the input; they cost less."""
    usage = Usage(input=1_000_000, output=0, cached_input=400_000)

    assert Price(2, 8, cached=0.5).of(usage) == pytest.approx(0.6 * 2 + 0.4 * 0.5)


def test_anthropic_counts_cached_input_apart() -> None:
    """Its input tokens leave out what the cache gave."""
    usage = Usage(input=1_000_000, output=0, cached_input=400_000)

    assert Price(2, 8, cached=0.5, counts_cached_apart=True).of(usage) == pytest.approx(2 + 0.4 * 0.5)


def test_a_local_server_costs_nothing() -> None:
    """An unknown model elsewhere has no price, which is not the same as zero."""
    assert price(Origin("ollama", "", "qwen3")) == Price(0, 0)
    assert price(Origin("openai", "", "some-new-model")) is None


def test_a_price_of_one_provider_comes_before_the_table() -> None:
    """A price that the user set for one provider does not change the price elsewhere."""
    set_price("gpt-4o", Price(9, 9), provider="azure")

    assert price(Origin("azure", "", "gpt-4o")) == Price(9, 9)
    assert price(Origin("openai", "", "gpt-4o-2026")) == PRICES["gpt-4o"]
