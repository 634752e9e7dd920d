"""Anthropic, Gemini, Responses: what a real server took passes, what it refused is caught."""

from __future__ import annotations

from typing import Any

import pytest
from tests.corpus import Exchange, exchanges, needs_corpus, refusals
from tests.wire.check.bodies import rules

from turnout.wire.check import anthropic, gemini, responses

CHECKERS = {
    "anthropic": anthropic.violations,
    "gemini": gemini.violations,
    "openai_responses": responses.violations,
}
REFUSED = [
    exchange
    for family in CHECKERS
    for exchange in refusals(family)
    if "error_tool_protocol" in exchange.meta["tags"]
]


def found(exchange: Exchange) -> list[Any]:
    violations = CHECKERS[exchange.meta["family"]]
    return list(violations(exchange.request, model=exchange.meta["model"] or ""))


@needs_corpus
@pytest.mark.parametrize("family", CHECKERS)
def test_what_was_taken_passes(family: str) -> None:
    """No recorded request that was answered with 200 is called bad."""
    taken = [
        exchange
        for exchange in exchanges(family)
        if exchange.status == 200 and exchange.meta["provenance"] == "http" and exchange.request
    ]
    alarms = {exchange.id: rules(problems) for exchange in taken if (problems := found(exchange))}

    assert taken and alarms == {}


@needs_corpus
@pytest.mark.parametrize("exchange", REFUSED, ids=lambda exchange: exchange.id)
def test_what_was_refused_is_caught(exchange: Exchange) -> None:
    """A recorded refusal about tools is foreseen, in the provider's own words."""
    if not exchange.request:
        pytest.skip("only the answer was recorded")
    answers = [problem.answer for problem in found(exchange)]

    assert any(answer[:60] in exchange.meta["error_text"] for answer in answers), answers
