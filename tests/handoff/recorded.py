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
    "bedrock_converse": "bedrock-converse",
    "bedrock_invoke": "bedrock-invoke",
}
CHAT_HOSTS = {"bedrock": "bedrock@openai", "ollama": "ollama@chat"}
"""Where a provider whose own API is another one serves Chat."""


@cache
def requests() -> tuple[Exchange, ...]:
    """Every recording that holds a request in a format that a conversation can come in."""
    return tuple(exchange for exchange in exchanges(*FORMATS) if _holds_conversation(exchange))


def _holds_conversation(exchange: Exchange) -> bool:
    """InvokeModel takes the body of any maker; Claude's is a conversation that we read."""
    if exchange.meta["family"] == "bedrock_invoke" and "claude" not in str(exchange.meta["model"]):
        return False
    return isinstance(exchange.request, dict)


def history(exchange: Exchange) -> History:
    return ingest(exchange.request, FORMATS[exchange.meta["family"]], origin(exchange))


def origin(exchange: Exchange) -> str:
    """Who was asked, as a target: the provider by our name (any other is a compatible one) and the model."""
    family, provider = exchange.meta["family"], str(exchange.meta["provider"])
    if family == "openai_chat":
        known = provider if provider in PROVIDERS else "compatible"
        provider = CHAT_HOSTS.get(provider, known)
    elif family.startswith("bedrock"):
        provider = "bedrock@invoke" if family == "bedrock_invoke" else "bedrock"
    elif family == "gemini":
        provider = "vertex" if provider == "vertex" else "gemini"
    else:
        provider = FORMATS[family]
    return f"{provider}:{exchange.meta['model']}"
