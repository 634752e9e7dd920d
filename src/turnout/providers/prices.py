"""What replies cost: prices per million tokens, from the catalogue or as users set them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from ..model import Origin, Usage
from .catalogue import LOCAL, MAKERS, SAME_MODELS, LongPrompt, load_catalogue, model_row
from .models import normalize_model_name


class Price(Struct, frozen=True):
    """US dollars per million tokens. Cached input is a part of the input where the provider counts so."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    counts_cached_apart: bool = False  # Anthropic: cached tokens are not among the input tokens
    long: LongPrompt | None = None  # where a long prompt costs more

    def of(self, usage: Usage) -> float:
        cached, written = usage.cached_input or 0, usage.cache_write or 0
        prompt = (usage.input or 0) + (cached + written if self.counts_cached_apart else 0)
        if self.long is not None and prompt > self.long.start:
            return self._for_long_prompt(self.long).of(usage)
        fresh = (usage.input or 0) - (0 if self.counts_cached_apart else cached)
        spent = max(fresh, 0) * self.input + (usage.output or 0) * self.output
        spent += cached * (self.input if self.cached is None else self.cached)
        spent += written * (self.input if self.cache_write is None else self.cache_write)
        return spent / 1_000_000

    def _for_long_prompt(self, long: LongPrompt) -> Price:
        return Price(
            self.input if long.input is None else long.input,
            self.output if long.output is None else long.output,
            long.cached,
            long.cache_write,
            self.counts_cached_apart,
        )


PRICES: dict[str, Price] = {}
"""Prices that users set for a model wherever it is served."""


PRICES_BY_PROVIDER: dict[str, dict[str, Price]] = {}
"""Prices that users set: a model may have another price at another provider. They come before the table."""


def price(origin: Origin) -> Price | None:
    """The price of a model where it is known; local servers cost nothing.

    What a user set comes first, then the provider's own price in the catalogue. A host that the
    catalogue does not list is taken to cost what the maker asks.
    """
    own = _price_of_prefix(PRICES_BY_PROVIDER.get(origin.provider, {}), origin.model)
    if own is None and origin.provider in LOCAL:
        return Price(0, 0)
    return own or _price_of_prefix(PRICES, origin.model) or _listed_price(origin.provider, origin.model)


@lru_cache(maxsize=512)
def _listed_price(provider: str, model: str) -> Price | None:
    listed = load_catalogue().models
    asked = (provider,) if SAME_MODELS.get(provider, provider) in listed else MAKERS
    rows = (model_row(each, model, priced=True) for each in asked)
    found = next((row for row in rows if row is not None and row.input is not None), None)
    if found is None or found.input is None or found.output is None:
        return None
    apart = counts_cached_apart(provider, model)
    return Price(found.input, found.output, found.cached, found.cache_write, apart, found.long)


def counts_cached_apart(provider: str, model: str) -> bool:
    """Anthropic's count of input leaves out what came from the cache; others' counts hold it."""
    from . import PROVIDERS

    if (known := PROVIDERS.get(provider)) is None:
        return normalize_model_name(model).startswith("claude")
    return known.serving_model(model).speaks(model).counts_cached_apart


def set_price(model: str, price: Price, *, provider: str = "") -> None:
    """Override or add a price, for this process: of a model anywhere, or at one provider."""
    prices = PRICES_BY_PROVIDER.setdefault(provider, {}) if provider else PRICES
    prices[normalize_model_name(model)] = price


def _price_of_prefix(prices: Mapping[str, Price], model: str) -> Price | None:
    name = normalize_model_name(model) if prices else ""
    return next((found for cut in range(len(name), 0, -1) if (found := prices.get(name[:cut]))), None)
