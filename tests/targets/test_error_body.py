"""Errors in the shape of each API: the SDKs of the vendors raise their own errors for them."""

from __future__ import annotations

import typing
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import types
from mistralai.client import Mistral
from mistralai.client.errors import SDKError

import turnout
from turnout.errors import FailureKind

KINDS = typing.get_args(FailureKind)
USER: Any = [{"role": "user", "content": "x"}]


def failing(protocol: str, kind: FailureKind) -> httpx2.MockTransport:
    body = turnout.error_body(protocol, turnout.ProviderError("no luck", kind=kind, retry_after=0.0))
    return httpx2.MockTransport(
        lambda request: httpx2.Response(body.status, headers=body.headers, content=body.body)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_openais_sdk_raises_its_own_error(kind: FailureKind) -> None:
    """In Chat and in Responses, with the message."""
    for protocol in ("chat", "responses"):
        http = httpx2.Client(transport=failing(protocol, kind))
        client = openai.OpenAI(api_key="x", base_url="http://localhost", http_client=http, max_retries=0)
        with pytest.raises(openai.APIStatusError, match="no luck") as raised:
            if protocol == "chat":
                client.chat.completions.create(model="m", messages=USER)
            else:
                client.responses.create(model="m", input="x")
        assert isinstance(raised.value, openai.RateLimitError) == (kind in ("rate_limit", "quota"))
        assert not isinstance(raised.value, openai.AuthenticationError | openai.PermissionDeniedError)


@pytest.mark.parametrize("kind", KINDS)
def test_anthropics_sdk_raises_its_own_error(kind: FailureKind) -> None:
    """With the message."""
    http = httpx2.Client(transport=failing("anthropic", kind))
    client = anthropic.Anthropic(api_key="x", http_client=http, max_retries=0)
    with pytest.raises(anthropic.APIStatusError, match="no luck") as raised:
        client.messages.create(model="m", max_tokens=9, messages=USER)
    assert isinstance(raised.value, anthropic.RateLimitError) == (kind in ("rate_limit", "quota"))
    assert not isinstance(raised.value, anthropic.AuthenticationError)


@pytest.mark.parametrize("kind", KINDS)
def test_googles_sdk_raises_its_own_error(kind: FailureKind) -> None:
    """With the message."""
    options = types.HttpOptions(httpx_client=httpx2.Client(transport=failing("gemini", kind)))
    client = genai.Client(api_key="x", http_options=options)
    with pytest.raises(genai.errors.APIError, match="no luck"):
        client.models.generate_content(model="m", contents="x")


@pytest.mark.parametrize("kind", KINDS)
def test_mistrals_sdk_raises_its_own_error(kind: FailureKind) -> None:
    """With the message."""
    client = Mistral(api_key="x", client=httpx2.Client(transport=failing("chat", kind)))
    with pytest.raises(SDKError, match="no luck"):
        client.chat.complete(model="m", messages=USER)


def test_a_refused_key_names_the_provider_and_its_variable() -> None:
    """It is the gateway's key, not the caller's: a 502."""
    error = turnout.ProviderError("invalid x-api-key", kind="auth", status=401)
    body = turnout.error_body("chat", error, "anthropic:claude-sonnet-4-5")

    assert body.status == 502
    assert b"anthropic refused the key of the gateway" in body.body
    assert b"ANTHROPIC_API_KEY" in body.body


def test_the_time_to_wait_is_passed_on() -> None:
    """As a header, and for Gemini in the body too."""
    error = turnout.ProviderError("slow down", kind="rate_limit", retry_after=7)

    assert turnout.error_body("anthropic", error).headers["retry-after"] == "7"
    assert b'"retryDelay":"7s"' in turnout.error_body("gemini", error).body


def test_other_exceptions_do_not_show_their_text() -> None:
    """A mistake of the caller is a 400 with its words; a fault of ours is a 500 without."""
    mistake = turnout.error_body("chat", turnout.UsageError("messages must be a list"))
    fault = turnout.error_body("chat", RuntimeError("/home/someone/secret"))

    assert (mistake.status, b"messages must be a list" in mistake.body) == (400, True)
    assert (fault.status, b"secret" in fault.body) == (500, False)
