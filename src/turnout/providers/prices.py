"""Prices per million tokens, as data: longest prefix of the model's name wins; updatable at run time."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ..model import Origin, Usage
from .models import normalize_model_name

LOCAL = frozenset({"ollama", "vllm", "llamacpp", "lmstudio"})


class Price(Struct, frozen=True):
    """US dollars per million tokens. Cached input is a part of the input where the provider counts so."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    counts_cached_apart: bool = False  # Anthropic: cached tokens are not among the input tokens

    def of(self, usage: Usage) -> float:
        cached, written = usage.cached_input or 0, usage.cache_write or 0
        fresh = (usage.input or 0) - (0 if self.counts_cached_apart else cached)
        spent = max(fresh, 0) * self.input + (usage.output or 0) * self.output
        spent += cached * (self.input if self.cached is None else self.cached)
        spent += written * (self.input if self.cache_write is None else self.cache_write)
        return spent / 1_000_000


def _claude(input: float, output: float) -> Price:
    return Price(input, output, input * 0.1, input * 1.25, counts_cached_apart=True)


PRICES: dict[str, Price] = {
    "gpt-4o": Price(2.5, 10, 1.25),
    "gpt-4o-mini": Price(0.15, 0.6, 0.075),
    "gpt-4.1": Price(2, 8, 0.5),
    "gpt-4.1-mini": Price(0.4, 1.6, 0.1),
    "gpt-4.1-nano": Price(0.1, 0.4, 0.025),
    "o1": Price(15, 60, 7.5),
    "o3": Price(2, 8, 0.5),
    "o3-mini": Price(1.1, 4.4, 0.55),
    "o4-mini": Price(1.1, 4.4, 0.275),
    "gpt-5": Price(1.25, 10, 0.125),
    "gpt-5-mini": Price(0.25, 2, 0.025),
    "gpt-5-nano": Price(0.05, 0.4, 0.005),
    "gpt-5-pro": Price(15, 120),
    "gpt-5.1": Price(1.25, 10, 0.125),
    "gpt-5.2": Price(1.75, 14, 0.175),
    "claude-3-haiku": _claude(0.25, 1.25),
    "claude-3-5-haiku": _claude(0.8, 4),
    "claude-3-5-sonnet": _claude(3, 15),
    "claude-3-7-sonnet": _claude(3, 15),
    "claude-sonnet-4": _claude(3, 15),
    "claude-opus-4": _claude(15, 75),
    "claude-opus-4-5": _claude(5, 25),
    "claude-opus-4-6": _claude(5, 25),
    "claude-opus-4-7": _claude(5, 25),
    "claude-haiku-4-5": _claude(1, 5),
    "gemini-2.0-flash": Price(0.1, 0.4, 0.025),
    "gemini-2.5-pro": Price(1.25, 10, 0.31),
    "gemini-2.5-flash": Price(0.3, 2.5, 0.075),
    "gemini-2.5-flash-lite": Price(0.1, 0.4, 0.025),
    "gemini-3-pro": Price(2, 12, 0.2),
    "mistral-large": Price(2, 6),
    "mistral-medium": Price(0.4, 2),
    "mistral-small": Price(0.1, 0.3),
    "codestral": Price(0.3, 0.9),
    "kimi-k2": Price(0.6, 2.5, 0.15),
    "deepseek-chat": Price(0.28, 0.42, 0.028),
    "deepseek-reasoner": Price(0.28, 0.42, 0.028),
    "grok-4": Price(3, 15, 0.75),
    "grok-3-mini": Price(0.3, 0.5, 0.075),
    "grok-code": Price(0.2, 1.5, 0.02),
    "glm-4.6": Price(0.6, 2.2, 0.11),
}


PRICES_BY_PROVIDER: dict[str, dict[str, Price]] = {}
"""Prices that users set: a model may have another price at another provider. They come before the table."""


def price(origin: Origin) -> Price | None:
    """The price of a model where it is known; local servers cost nothing."""
    own = _price_of_prefix(PRICES_BY_PROVIDER.get(origin.provider, {}), origin.model)
    if own is None and origin.provider in LOCAL:
        return Price(0, 0)
    return own or _price_of_prefix(PRICES, origin.model)


def set_price(model: str, price: Price, *, provider: str = "") -> None:
    """Override or add a price, for this process: of a model anywhere, or at one provider."""
    prices = PRICES_BY_PROVIDER.setdefault(provider, {}) if provider else PRICES
    prices[normalize_model_name(model)] = price


def _price_of_prefix(prices: Mapping[str, Price], model: str) -> Price | None:
    name = normalize_model_name(model) if prices else ""
    return next((found for cut in range(len(name), 0, -1) if (found := prices.get(name[:cut]))), None)
