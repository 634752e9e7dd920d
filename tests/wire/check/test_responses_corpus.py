"""OpenAI Responses: what a real server took passes, what it refused is caught."""

from __future__ import annotations

import pytest
from tests.corpus import Exchange, exchanges, needs_corpus, refusals
from tests.wire.check.bodies import rules

from turnout.wire.check.responses import violations

FAMILY = "openai_responses"
# Recordings that were taken although a rule speaks against them, each with the reason. At most 1 %.
EXCEPTIONS: dict[str, str] = {}


def taken() -> list[Exchange]:
    return [
        exchange
        for exchange in exchanges(FAMILY)
        if exchange.status == 200 and exchange.meta["provenance"] == "http" and exchange.request
    ]


@needs_corpus
def test_what_was_taken_passes() -> None:
    """No recorded request that was answered with 200 is called bad."""
    alarms = {
        exchange.id: rules(found)
        for exchange in taken()
        if (found := list(violations(exchange.request, model=exchange.meta["model"] or "")))
    }

    assert alarms.keys() == EXCEPTIONS.keys(), alarms
    assert len(EXCEPTIONS) <= len(taken()) / 100


@needs_corpus
@pytest.mark.parametrize(
    "exchange",
    [exchange for exchange in refusals(FAMILY) if "error_tool_protocol" in exchange.meta["tags"]],
    ids=lambda exchange: exchange.id,
)
def test_what_was_refused_is_caught(exchange: Exchange) -> None:
    """A recorded refusal about tools is foreseen, in the provider's own words."""
    if not exchange.request:
        pytest.skip("only the answer was recorded")
    answers = [problem.answer for problem in violations(exchange.request, model=exchange.meta["model"] or "")]

    assert any(answer[:60] in exchange.meta["error_text"] for answer in answers), answers
