"""Each provider fails in its own words, and those words are understood."""

from __future__ import annotations

from typing import get_args

import pytest
from tests.simulate.targets import TARGETS

from turnout.errors import FailureKind, ProviderError, StreamError
from turnout.simulate import script
from turnout.simulate.provider import SimulatedProvider
from turnout.targets.reply import decode
from turnout.targets.request import url
from turnout.targets.target import find_target as target
from turnout.wire.failure.read_failure import failure

KINDS = [
    kind for kind in get_args(FailureKind) if kind not in ("network", "truncated", "malformed", "too_large")
]
HEADERS = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}


def answered(name: str, step: object, *, streams: bool = True):  # type: ignore[no-untyped-def]
    """What the provider of this target does when the script says this."""
    place = target(name)
    provider = SimulatedProvider(place.provider.name, [step])
    return provider.answer(url(place, stream=streams), HEADERS, _body(name, streams))


def _body(name: str, streams: bool) -> bytes:
    model = target(name).model.encode()
    stream = b',"stream":true' if streams else b""
    match TARGETS[name]:
        case "gemini":
            return b'{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
        case "responses":
            return b'{"model":"%s","input":"hi"%s}' % (model, stream)
        case _:
            body = b'{"model":"%s","max_tokens":100,"messages":[{"role":"user","content":"hi"}]%s}'
            return body % (model, stream)


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


@pytest.mark.parametrize("fault", [script.Truncate(), script.Truncate(after=2), script.Reset()])
@pytest.mark.parametrize("name", TARGETS)
def test_a_reply_without_its_end_is_not_taken_for_whole(name: str, fault: script.Fault) -> None:
    """All may have been said: without the provider's last event the reply was cut short."""
    answer = answered(name, [script.Say("Reading it."), script.Call("read", {"path": "a"}), fault])

    with pytest.raises(StreamError) as raised:
        decode(name, answer.body)
    assert raised.value.kind == "truncated"


@pytest.mark.parametrize("fault", [script.Garble(after=3), script.Garble(after=3, bytes=True)])
@pytest.mark.parametrize("name", TARGETS)
def test_a_payload_that_is_no_json_is_a_failure(name: str, fault: script.Fault) -> None:
    """Garbage in mid stream ends the reply."""
    answer = answered(name, [script.Say("Reading it. It is a long file."), fault])

    with pytest.raises(StreamError):
        decode(name, answer.body)


@pytest.mark.parametrize("name", TARGETS)
def test_signs_of_life_say_nothing(name: str) -> None:
    """Pings and odd cuts leave the reply as it was."""
    answer = answered(name, [script.Say("All is well."), script.Pings(5, after=1), script.Split(1)])

    assert decode(name, answer.body).text == "All is well."
    assert max(len(piece) for piece in answer.pieces if isinstance(piece, bytes)) == 1


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
