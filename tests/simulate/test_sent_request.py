"""What was sent, as tests of users see it: in the same words for every provider, without keys."""

from __future__ import annotations

import pytest
from tests.testing.agent import SCRIPT, TARGETS, dress

from turnout.simulate import ScriptedModel
from turnout.simulate.sent_request import sent_request


@pytest.mark.parametrize("target", TARGETS)
def test_a_request_reads_the_same_at_every_provider(target: str) -> None:
    """Target, system, tools, the user's words, calls and results do not depend on the wire."""
    with ScriptedModel(SCRIPT) as model:
        assert dress(target) == "Take a coat."
    first, second = model.requests
    assert first.target == target and second.target == target
    assert first.tools == ("weather",) and first.system == "Be brief."
    assert first.conversation == ["user: What should I wear?"] and first.user == "What should I wear?"
    assert [(call.name, call.arguments) for call in second.calls] == [("weather", {"city": "Paris"})]
    assert second.results == {"weather": "18 degrees in Paris"}
    assert second.conversation[1:] == ['call: weather({"city":"Paris"})', "result: 18 degrees in Paris"]
    model.check_finished()


def test_no_key_is_in_what_a_test_sees() -> None:
    """Neither headers nor the address show the key, however it was sent."""
    places = [
        ("https://api.anthropic.com/v1/messages", {"x-api-key": "sk-secret-1", "anthropic-version": "1"}),
        ("https://api.openai.com/v1/chat/completions", {"Authorization": "Bearer sk-secret-1"}),
        ("https://me:sk-secret-1@host/v1/messages?key=sk-secret-1&alt=sse", {}),
    ]
    for url, headers in places:
        sent = sent_request(url, headers, b"{}")
        assert "secret" not in f"{sent.url} {sent.headers} {sent!r}"
    assert sent.url == "https://host/v1/messages?key=[redacted]&alt=sse"


def test_a_check_gives_the_request_that_fits() -> None:
    """`check` finds one among several, and gives it back for a closer look."""
    with ScriptedModel([*SCRIPT, "Yes."]) as model:
        dress("anthropic:claude-sonnet-5")
        dress("openai:gpt-4o", "Really?")
    assert model.requests.check(target="openai", user="Really") is not model.requests[0]
    assert model.requests.check(results={"weather": "18"}).target == "anthropic:claude-sonnet-5"
    model.requests.check_none(target="mistral")
    with pytest.raises(AssertionError, match=r"request \[2\] was sent, and none with target was expected"):
        model.requests.check_none(target="openai")


def test_a_failed_check_names_what_differs_at_the_nearest_request() -> None:
    """The failure lists what was sent, each difference, and the conversation."""
    with ScriptedModel(SCRIPT) as model:
        dress("anthropic:claude-sonnet-5")
    with pytest.raises(AssertionError) as caught:
        model.requests.check(
            target="anthropic", tools=["clock"], results={"weather": "19"}, body={"model": "x"}
        )
    text = str(caught.value)
    assert "[1] <request to anthropic:claude-sonnet-5" in text and "nearest, [1]:" in text
    assert "tools: not offered: clock; offered are weather" in text
    assert "expected a result of weather with '19', sent '18 degrees in Paris'" in text
    assert 'body: model: expected "x", sent "claude-sonnet-5"' in text
    assert text.endswith("result: 18 degrees in Paris")


def test_nothing_sent_is_told_as_such() -> None:
    """Where no request was sent, both a check and an index say so."""
    model = ScriptedModel([])
    with pytest.raises(AssertionError, match="no request was sent; expected one with user"):
        model.requests.check(user="x")
    with pytest.raises(IndexError, match="request 0 was not sent; no request was sent"):
        model.requests[0]


def test_steps_that_were_not_asked_for_are_named() -> None:
    """A script that is longer than the conversation fails `check_finished`, for one script or several."""
    with ScriptedModel({"openai": ["One.", "Two."], "anthropic": ["Three."]}) as model:
        dress("openai:gpt-4o")
    with pytest.raises(AssertionError, match="2 steps of the script were not asked for"):
        model.check_finished()
