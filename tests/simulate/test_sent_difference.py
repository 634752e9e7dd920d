"""Expectations on a request, one by one: what is compared, and the words on a difference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.testing.agent import SCRIPT, dress

from turnout.simulate import ScriptedModel
from turnout.simulate.sent_request import SentRequest


@pytest.fixture(scope="module")
def sent() -> SentRequest:
    with ScriptedModel(SCRIPT) as model:
        dress("anthropic:claude-sonnet-5", api_key="sk-ant-secret")
    return model.requests[1]


FITS: list[dict[str, Any]] = [
    {"target": "anthropic"},
    {"target": "anthropic:claude-sonnet-5"},
    {"url": "/v1/messages"},
    {"system": "brief"},
    {"user": "wear"},
    {"text": "18 degrees"},
    {"tools": ["weather"]},
    {"calls": ["weather"]},
    {"results": {"weather": "18"}},
    {"headers": {"Anthropic-Version": "2023-06-01", "x-missing": None}},
    {"body": {"model": "claude-sonnet-5", "tools": [{"name": "weather"}]}},
]
DIFFERS: list[tuple[dict[str, Any], str]] = [
    ({"target": "openai"}, "target: expected openai, sent to anthropic:claude-sonnet-5"),
    ({"system": "long"}, "system: expected a text with 'long', sent 'Be brief.'"),
    ({"tools": []}, "tools: offered, but not expected: weather"),
    ({"calls": []}, "calls: expected calls of none; the conversation has weather"),
    ({"results": {"clock": "x"}}, "expected a result of clock; there are results of weather"),
    ({"headers": {"x-beta": "1"}}, "headers: x-beta: expected '1', sent None"),
    ({"headers": {"x-api-key": "k"}}, "headers: x-api-key: expected 'k', sent '[redacted]'"),
    ({"body": {"tools": []}}, "body: tools: expected [], sent "),
    ({"body": {"seed": 1}}, "body: seed: expected 1, not sent"),
]


@pytest.mark.parametrize("expected", FITS, ids=str)
def test_what_fits_passes(sent: SentRequest, expected: dict[str, Any]) -> None:
    """Texts are compared by parts, names as sets, JSON by the fields that are named."""
    assert sent.check(**expected) is sent


@pytest.mark.parametrize(("expected", "words"), DIFFERS, ids=str)
def test_what_differs_is_told_in_words(sent: SentRequest, expected: dict[str, Any], words: str) -> None:
    """Each line has what was expected and what was sent; a key is never shown."""
    with pytest.raises(AssertionError) as caught:
        sent.check(**expected)
    assert words in str(caught.value) and "secret" not in str(caught.value)


def test_a_misspelt_expectation_is_an_error(sent: SentRequest) -> None:
    """`tool=` would otherwise be a test that never fails."""
    with pytest.raises(TypeError, match="did you mean tools"):
        sent.check(tool=["weather"])
