"""Failures of a provider in the words of the caller's protocol."""

from __future__ import annotations

import typing

import pytest
from tests.wire.reencoding import PROTOCOLS

from turnout import ProviderError
from turnout.errors import FailureKind
from turnout.wire.failure.error_words import caller_status, error_envelope
from turnout.wire.failure.read_failure import stream_failure

KINDS = typing.get_args(FailureKind)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_words_that_can_be_read_again(kind: FailureKind, protocol: str) -> None:
    """The message is kept, and the status is one that a client may get."""
    error = ProviderError("it went wrong", kind=kind)
    read = stream_failure(error_envelope(protocol, error))

    assert read.message == "it went wrong"
    assert 400 <= caller_status(protocol, error) < 600


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_of_the_gateway_never_looks_like_the_callers_token(status: int) -> None:
    """Whatever the upstream said."""
    for protocol in PROTOCOLS:
        assert caller_status(protocol, ProviderError("bad key", kind="auth", status=status)) == 502


def test_an_overload_has_the_status_that_the_clients_of_each_protocol_retry() -> None:
    """529 is Anthropic's own."""
    error = ProviderError("busy", kind="overloaded", status=529)

    assert [caller_status(protocol, error) for protocol in PROTOCOLS] == [503, 503, 529, 503]
