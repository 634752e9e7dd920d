"""Recorded traffic of every family: what a server took is not called refused, what it refused is foreseen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.corpus import Exchange, exchanges, needs_corpus, refusals

from turnout.wire.check import NAMES, check
from turnout.wire.failure.read_failure import failure

FAMILIES = (
    "openai_chat",
    "openai_responses",
    "anthropic",
    "gemini",
    "mistral",
    "ollama",
    "cohere",
    "bedrock_invoke",
)

UNSEEN: dict[str, str] = {
    "07b47be4464d0b": "which models give log probabilities is not known",
    "49abc50bb47dae": "Bedrock takes no links to images; Anthropic's own server, whose rules these are, does",
    "79d5c04ed57c8e": "the server could not fetch a link",
    "f78b84240a257c": "the bytes under an image's name are not an image; nothing is decoded here",
}
"""A recording, and why no rule could have foreseen its refusal."""


def apis(exchange: Exchange) -> Iterator[str]:
    """The checkers that have a say: who served it, and what it is written in.

    A host that nobody named rules for speaks the wire and no more.
    """
    family, provider = exchange.meta["family"], str(exchange.meta["provider"]).replace("_", "-")
    if family == "bedrock_invoke":
        if "anthropic" in exchange.meta["model"] and "messages" in exchange.request:
            yield "anthropic"
        return
    yield provider if provider in NAMES else "openai-compatible" if family == "openai_chat" else family
    yield family


def named(exchange: Exchange) -> str:
    return next(apis(exchange), "")


@needs_corpus
@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_taken_is_never_called_refused(family: str) -> None:
    """No false alarm in the whole corpus, whether the checker is told the provider or only the format."""
    taken = [
        exchange
        for exchange in exchanges(family)
        if exchange.status == 200 and exchange.meta["provenance"] == "http" and exchange.request
    ]
    alarms = {
        f"{exchange.id} as {api}": [f"{problem.rule} at {problem.path}" for problem in problems]
        for exchange in taken
        for api in apis(exchange)
        if (problems := check(api, exchange.request, model=exchange.meta["model"] or ""))
    }

    assert taken and alarms == {}


def refused() -> list[Exchange]:
    """The refusals that are about the request itself: not its key, its model's name or its length."""
    return [
        exchange
        for exchange in refusals(*FAMILIES)
        if exchange.request is not None
        and named(exchange)
        and failure(exchange.status, {}, exchange.body).kind == "invalid_request"
    ]


@needs_corpus
@pytest.mark.parametrize("exchange", refused(), ids=lambda exchange: exchange.id)
def test_what_was_refused_is_foreseen(exchange: Exchange) -> None:
    """In the provider's own words, unless the body does not show it."""
    problems = check(named(exchange), exchange.request, model=exchange.meta["model"] or "")
    said = exchange.meta["error_text"]

    assert (exchange.id in UNSEEN) == (problems == [])
    assert not problems or any(problem.answer[:60] in said for problem in problems)


@needs_corpus
def test_every_excuse_is_of_a_recording() -> None:
    """An excuse without a recording is removed from the list."""
    assert set(UNSEEN) <= {exchange.id for exchange in refused()}
