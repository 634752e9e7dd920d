"""`turnout.target`: a place to send to, with what every request to it gets."""

from __future__ import annotations

import asyncio
import json

from tests.session.talk import everything, session

import turnout
from turnout import History


def history() -> History:
    made = History()
    made.user("hi")
    return made


def test_a_target_adds_headers_query_and_fields() -> None:
    """They are in every request to it, beside what the provider itself needs."""
    place = turnout.target(
        "openai:gpt-5.1",
        headers={"X-Team": "search"},
        query={"trace": "on&off"},
        extra={"store": False, "metadata": {"a": "1"}},
        temperature=0.2,
    )
    request = turnout.render(history(), place, extra={"metadata": {"b": "2"}})
    assert request.headers["x-team"] == "search" and request.headers["content-type"] == "application/json"
    assert request.url == "https://api.openai.com/v1/chat/completions?trace=on%26off"
    assert request.json["store"] is False and request.json["metadata"] == {"a": "1", "b": "2"}


def test_an_option_of_a_request_comes_before_the_targets() -> None:
    """The target says what is usual there; the call says what is wanted now."""
    place = turnout.target("mistral:mistral-large-latest", temperature=0.2, max_tokens=100)
    body = turnout.render(history(), place, temperature=0.9).json
    assert body["temperature"] == 0.9 and body["max_tokens"] == 100


def test_a_session_sends_what_its_target_adds() -> None:
    """The address is still the one that the environment names."""
    place = turnout.target("openai:gpt-4o", headers={"X-Team": "search"}, query={"v": "1"}, seed=7)
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    talk, transport = session(["hi"], place, environment=environment)  # type: ignore[arg-type]
    asyncio.run(everything(talk))
    seen = transport.exchanges[0]
    assert seen.headers["x-team"] == "search" and json.loads(seen.body)["seed"] == 7
    assert talk.target.provider.base_url == "http://127.0.0.1:9/v1"


def test_options_of_a_target_can_be_given_up() -> None:
    """A server that refuses an option is asked without it, also if the target brought the option."""
    talk, transport = session(
        [turnout.simulate.HttpError("invalid_request")] * 2 + ["hi"],
        turnout.target("openai:gpt-4o", seed=7),  # type: ignore[arg-type]
    )
    asyncio.run(everything(talk))
    sent = [b'"seed"' in seen.body for seen in transport.exchanges]
    assert sent[0] and not sent[-1]
