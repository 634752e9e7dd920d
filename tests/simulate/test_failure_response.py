"""Failures as each provider sends them, and what is read of them."""

from __future__ import annotations

from typing import get_args

import pytest
from tests.simulate.failing_replies import answered
from tests.simulate.targets import TARGETS

from turnout.errors import FailureKind, ProviderError, StreamError
from turnout.simulate import script
from turnout.targets.reply import decode
from turnout.wire.failure.read_failure import failure

KINDS = [
    kind for kind in get_args(FailureKind) if kind not in ("network", "truncated", "malformed", "too_large")
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TARGETS)
def test_an_error_is_understood_whoever_says_it(name: str, kind: FailureKind) -> None:
    """A scripted failure comes back as the same kind, from every provider's own envelope."""
    answer = answered(name, script.HttpError(kind))

    told = failure(answer.status, answer.headers, answer.body)
    assert answer.status >= 400
    assert told.kind == kind


@pytest.mark.parametrize("name", TARGETS)
def test_a_provider_says_when_to_come_again(name: str) -> None:
    """Seconds in a header, in Gemini's case in the body."""
    answer = answered(name, script.HttpError("rate_limit", retry_after=7))

    assert failure(answer.status, answer.headers, answer.body).retry_after == 7


def test_a_date_says_it_too() -> None:
    """Retry-After may be a moment in place of a span."""
    answer = answered(
        "openai:gpt-4o", script.HttpError("rate_limit", retry_after="Thu, 01 Jan 1970 00:01:40 GMT")
    )

    assert failure(answer.status, answer.headers, answer.body, now=90.0).retry_after == 10


@pytest.mark.parametrize("kind", ["overloaded", "server", "rate_limit"])
@pytest.mark.parametrize("name", TARGETS)
def test_an_error_in_mid_stream_is_understood(name: str, kind: FailureKind) -> None:
    """Status 200, some text, then the failure: what was said so far is kept."""
    said = [script.Say("Once upon a time there was a model"), script.MidStreamError(kind)]
    answer = answered(name, said)

    assert answer.status == 200
    with pytest.raises(ProviderError) as raised:
        decode(name, answer.body)
    assert raised.value.kind == kind
    assert raised.value.turn is not None
    assert raised.value.turn.text == "Once upon a time there was a model"


@pytest.mark.parametrize("name", TARGETS)
def test_an_error_before_a_whole_body_is_a_status(name: str) -> None:
    """What is not streamed can still say that it failed."""
    answer = answered(name, [script.Say("hi"), script.MidStreamError("overloaded")], streams=False)

    assert failure(answer.status, answer.headers, answer.body).kind == "overloaded"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (script.Raw("<html><title>Sign in</title></html>"), "malformed"),
        (script.Raw(""), "truncated"),
        (script.Raw('{"error":{"message":"Overloaded","type":"overloaded_error"}}'), "overloaded"),
    ],
)
@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"])
def test_what_is_no_reply_is_told_apart(name: str, raw: script.Raw, kind: str) -> None:
    """A web page, nothing at all, or an error under status 200."""
    with pytest.raises((ProviderError, StreamError)) as raised:
        decode(name, answered(name, raw).body)
    assert raised.value.kind == kind
