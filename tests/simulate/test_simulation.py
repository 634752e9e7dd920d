"""All providers at once: which provider a URL belongs to, and what is kept of each exchange."""

from __future__ import annotations

import pytest
from tests.simulate.scripted_steps import arrivals, hello
from tests.simulate.virtual import run

from turnout.simulate import (
    HttpError,
    ScriptedTransport,
)
from turnout.simulate.simulation import provider_of
from turnout.targets.target import find_target as target


def test_every_request_is_kept_with_its_verdict() -> None:
    """Who was asked, for which model, and what became of it."""
    transport = ScriptedTransport([HttpError("rate_limit"), "Hello."])
    run(arrivals(transport, hello()))
    run(arrivals(transport, hello("mistral:mistral-large-latest")))

    kept = [
        (seen.provider, seen.protocol, seen.model, seen.status, seen.is_accepted)
        for seen in transport.exchanges
    ]
    assert kept == [
        ("anthropic", "anthropic", "claude-sonnet-4-5", 429, True),
        ("mistral", "chat", "mistral-large-latest", 200, True),
    ]


def test_each_provider_may_have_a_script_of_its_own() -> None:
    """One is overloaded, the other answers."""
    transport = ScriptedTransport({"anthropic": [HttpError("overloaded")] * 2, "openai": ["Hello."]}, keeps=1)
    run(arrivals(transport, hello()))
    run(arrivals(transport, hello("openai:gpt-4o")))

    assert [(seen.provider, seen.status) for seen in transport.exchanges] == [("openai", 200)]


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://api.groq.com/openai/v1/chat/completions", "groq"),
        ("https://mine.openai.azure.com/openai/v1/chat/completions", "azure"),
        ("https://cloudcode-pa.googleapis.com/v1internal:generateContent", "gemini"),
        ("http://127.0.0.1:11434/v1/chat/completions", "ollama"),
        ("http://127.0.0.1:9000/mistral/v1/chat/completions", "mistral"),
        ("http://127.0.0.1:9000/moonshot/v1/chat/completions", "kimi"),
        ("http://127.0.0.1:9000/copilot/responses", "copilot"),
        ("http://127.0.0.1:9000/v1/messages", "anthropic"),
        ("http://127.0.0.1:9000/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini"),
        ("http://127.0.0.1:9000/api/chat", "ollama"),
    ],
)
def test_a_url_belongs_to_a_provider(url: str, provider: str) -> None:
    """By its host, by the first part of its path, or by the protocol."""
    assert provider_of(url) == provider


def test_every_known_target_is_sent_to_itself() -> None:
    """What is rendered for a provider arrives at its simulation, but where several share an address."""
    from turnout.providers import PROVIDERS

    for name in PROVIDERS.keys() - {"compatible"}:
        assert provider_of(hello(f"{name}:some-model").url) == name, target(f"{name}:m").provider.base_url
