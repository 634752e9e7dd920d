"""A client's request on its way in: its outer shape, and what it continues."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from turnout.errors import ProviderError
from turnout.surfaces.gateway.conversation import conversation_key
from turnout.surfaces.gateway.inbound import InboundBody, open_inbound, without_billing
from turnout.surfaces.gateway.routes import GatewayRoute

USER = {"role": "user", "content": "hello"}


def opened(
    body: Any, protocol: Any = "chat", known: dict[str, bytes] | None = None, **route: Any
) -> InboundBody:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def response(id: str) -> bytes | None:
        return (known or {}).get(id)

    return asyncio.run(open_inbound(GatewayRoute(protocol, "reply", **route), data, response))


def test_model_and_stream_are_read_without_the_messages() -> None:
    """Gemini has both in its path."""
    found = opened({"model": "m", "stream": True, "messages": [USER]})
    assert (found.model, found.streams, found.include_usage) == ("m", True, True)
    gemini = opened({"contents": [{"parts": [{"text": "x"}]}]}, "gemini", model="g", streams=False)
    assert (gemini.model, gemini.streams) == ("g", False)


@pytest.mark.parametrize(
    "body", [b"", b"7", b"[]", b"{", b'{"messages": 7}', b'{"messages": []}', b"[" * 99999]
)
def test_what_is_not_a_request_is_a_400(body: bytes) -> None:
    """Broken JSON, another value, no messages, brackets without end."""
    with pytest.raises(ProviderError) as caught:
        opened(body)
    assert caught.value.status == 400


@pytest.mark.parametrize("given", ["and?", [USER]])
def test_a_response_is_continued_with_all_its_items(given: Any) -> None:
    """The items before, then the new ones; other fields stay."""
    items = json.dumps([USER, {"type": "message", "role": "assistant", "content": "hi"}]).encode()
    body = {"model": "m", "input": given, "previous_response_id": "r", "temperature": 1}
    found = json.loads(opened(body, "responses", {"r": items}).body)
    assert len(found["input"]) == 3 and "previous_response_id" not in found and found["temperature"] == 1


def test_the_billing_line_goes_and_the_rest_stays() -> None:
    """It may change with each request, so no cache would hit behind it."""
    text = "x-anthropic-billing-header: cc_version=2.1; cch=abc;\n\nYou are helpful."
    assert without_billing(text) == "You are helpful."
    assert without_billing("About x-anthropic-billing-header.") == "About x-anthropic-billing-header."


def fields(body: dict[str, Any]) -> dict[str, bytes]:
    return {name: json.dumps(value).encode() for name, value in body.items()}


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_conversation_is_known_by_its_header_or_its_first_words(size: int) -> None:
    """Markers and system texts around the first words do not change it; another client has another one."""
    plain = fields({"messages": [USER]})
    marked = {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "x"}}]}
    longer = fields({"messages": [{"role": "system", "content": "s" * size}, marked, USER]})
    assert conversation_key({}, plain, "a") == conversation_key({}, longer, "a")
    assert conversation_key({}, plain, "a") != conversation_key({}, plain, "b")
    named = conversation_key({"x-session-id": "1"}, plain, "a")
    assert named == conversation_key({"x-session-id": "1"}, {}, "a") != conversation_key({}, plain, "a")
    cached = fields({"input": "x", "prompt_cache_key": "1"})
    assert conversation_key({}, cached, "a") == named
