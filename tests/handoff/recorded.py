"""Recorded requests as histories, with who was asked."""

from __future__ import annotations

from functools import cache

from tests.corpus import Exchange, exchanges

from turnout import History, ingest
from turnout.providers import PROVIDERS

FORMATS = {
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
    "ollama": "ollama",
    "cohere": "cohere",
}


@cache
def requests() -> tuple[Exchange, ...]:
    """Every recording that holds a request in a format that a conversation can come in."""
    return tuple(exchange for exchange in exchanges(*FORMATS) if isinstance(exchange.request, dict))


def history(exchange: Exchange) -> History:
    return ingest(exchange.request, FORMATS[exchange.meta["family"]], origin(exchange))


def origin(exchange: Exchange) -> str:
    """Who was asked, as a target: the provider by our name (any other is a compatible one) and the model."""
    family, provider = exchange.meta["family"], str(exchange.meta["provider"])
    if family == "openai_chat":
        provider = provider if provider in PROVIDERS else "compatible"
    elif family == "gemini":
        provider = "vertex" if provider == "vertex" else "gemini"
    else:
        provider = FORMATS[family]
    return f"{provider}:{exchange.meta['model']}"
