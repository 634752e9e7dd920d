"""Recorded Chat traffic: what a server answered with 200 passes its checker, what it refused does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.corpus import Exchange, exchanges, needs_corpus

from turnout.wire.check import NAMES, check

# Recorded with 200 and refused by us, each with the reason. At most one in a hundred.
EXCEPTIONS: dict[str, str] = {}

RECORDED = [
    exchange
    for exchange in exchanges("openai_chat", "mistral", "ollama")
    if exchange.meta["provenance"] == "http" and exchange.request is not None
]
ACCEPTED = [exchange for exchange in RECORDED if exchange.status == 200]
REFUSED = [exchange for exchange in RECORDED if "error_tool_protocol" in exchange.meta["tags"]]


def by_provider(exchange: Exchange) -> str:
    """Who served it; a host that nobody named rules for speaks the wire and no more."""
    name = str(exchange.meta["provider"]).replace("_", "-")
    return name if name in NAMES else "openai-compatible"


def by_format(exchange: Exchange) -> str:
    return str(exchange.meta["family"])


@needs_corpus
@pytest.mark.parametrize("api", [by_provider, by_format])
def test_what_was_accepted_passes(api: Callable[[Exchange], str]) -> None:
    """No false alarms, whether the checker is told the provider or only the format."""
    alarms = {
        exchange.id: [f"{problem.rule} at {problem.path}" for problem in problems]
        for exchange in ACCEPTED
        if (problems := check(api(exchange), exchange.request))
    }

    assert {id: rules for id, rules in alarms.items() if id not in EXCEPTIONS} == {}


def test_exceptions_are_few() -> None:
    assert len(EXCEPTIONS) <= len(ACCEPTED) / 100


@needs_corpus
@pytest.mark.parametrize("exchange", REFUSED, ids=lambda exchange: exchange.id)
def test_what_was_refused_over_tools_is_caught(exchange: Exchange) -> None:
    """Our answer holds the text that the server gave."""
    problems = check(by_provider(exchange), exchange.request)

    assert exchange.meta["error_text"] in [problem.answer for problem in problems]
