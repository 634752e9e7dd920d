"""What a reply costs, by the price of its model."""

from __future__ import annotations

import pytest

from turnout.model import Origin, Usage
from turnout.providers import prices
from turnout.providers.catalogue import context_window, model_row
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
    assert price(Origin("openai", "", "gpt-4o-2026")) == Price(2.5, 10, 1.25)


def test_a_price_for_everywhere_comes_before_the_catalogue() -> None:
    """It counts at every provider, and for names that begin so."""
    set_price("gpt-4o", Price(1, 2))

    assert price(Origin("openrouter", "", "openai/gpt-4o-2026")) == Price(1, 2)


def test_a_long_prompt_costs_more_where_the_provider_says_so() -> None:
    """Beyond the threshold all tokens have the higher price, those of the cache too."""
    found = price(Origin("anthropic", "", "claude-sonnet-4-5"))
    assert found is not None and found.long is not None and found.counts_cached_apart
    short, long = Usage(input=200_000, output=0), Usage(input=100_000, output=0, cached_input=100_001)
    assert found.of(short) == pytest.approx(0.6)
    assert found.of(long) == pytest.approx((100_000 * 6 + 100_001 * 0.6) / 1_000_000)


def test_the_count_of_cached_input_is_the_protocols() -> None:
    """Claude behind a Chat API has its cached tokens among the input."""
    apart = price(Origin("anthropic", "", "claude-sonnet-5"))
    within = price(Origin("openrouter", "", "anthropic/claude-sonnet-5"))
    assert apart is not None and within is not None
    assert apart.counts_cached_apart and not within.counts_cached_apart


def test_a_model_that_is_listed_for_its_window_costs_what_its_family_costs() -> None:
    """A row without a price does not hide the price of the family."""
    row = model_row("cohere", "command-a-reasoning-08-2025")
    family = price(Origin("cohere", "", "command-a"))

    assert row is not None and row.context == 256_000 and row.input is None
    assert family is not None and price(Origin("cohere", "", "command-a-reasoning-08-2025")) == family


def test_claude_on_vertex_costs_and_counts_as_at_its_maker() -> None:
    """Vertex serves Claude in Anthropic's format: its counts leave the cache out."""
    there, own = (price(Origin(provider, "", "claude-sonnet-5")) for provider in ("vertex", "anthropic"))

    assert there == own and there is not None and there.counts_cached_apart
    assert context_window("vertex", "claude-sonnet-5@20260601") == context_window(
        "anthropic", "claude-sonnet-5"
    )
