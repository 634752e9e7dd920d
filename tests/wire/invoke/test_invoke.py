"""InvokeModel for Claude: what the body says, and how a reply arrives in chunks."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from tests.build import conversation, user

from turnout import check, render
from turnout.model import Origin
from turnout.plain import dumps, loads
from turnout.streaming.eventstream import FAILED
from turnout.wire.invoke.decoder import InvokeDecoder

CLAUDE = "bedrock@invoke:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
COMPUTER = {
    "type": "computer_20250124",
    "name": "computer",
    "display_width_px": 800,
    "display_height_px": 600,
}


def chunk(event: dict[str, Any]) -> bytes:
    return dumps({"bytes": b64encode(dumps(event).encode()).decode()}).encode()


def decoder() -> InvokeDecoder:
    return InvokeDecoder(Origin("bedrock", "invoke", "claude"), "t")


def test_betas_stand_in_the_body() -> None:
    """Bedrock reads no beta header; the same tool on Anthropic's own API has it in the header."""
    here = render(conversation(user("hi")), CLAUDE, extra={"tools": [COMPUTER]})
    there = render(conversation(user("hi")), "anthropic:claude-sonnet-4-5", extra={"tools": [COMPUTER]})
    assert loads(here.body)["anthropic_beta"] == ["computer-use-2025-01-24"]
    assert "anthropic-beta" not in here.headers
    assert "computer-use-2025-01-24" in there.headers["anthropic-beta"]
    assert "anthropic_beta" not in loads(there.body)
    assert not check("bedrock", loads(here.body))


@pytest.mark.parametrize("stream", [True, False])
def test_the_path_says_the_model_and_the_stream(stream: bool) -> None:
    """The body has neither, but the version of the API."""
    made = render(conversation(user("hi")), CLAUDE, stream=stream)
    body = loads(made.body)
    assert made.url.endswith("/invoke-with-response-stream" if stream else "/invoke")
    assert "model" not in body and "stream" not in body
    assert body["anthropic_version"] == "bedrock-2023-05-31" and "anthropic_beta" not in body


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"bytes": 3}', b'{"bytes": "&&&"}', b'{"bytes": "e30"}', b"\xff"]
)
def test_a_damaged_chunk_fails_the_reply(data: bytes) -> None:
    """What cannot be read ends the reply with an error, and raises nothing."""
    reading = decoder()
    assert [type(event).__name__ for event in reading.feed("chunk", data)] == ["Error"]


def test_a_chunk_holds_one_event_of_anthropic() -> None:
    """Text arrives as it does from Anthropic itself."""
    reading = decoder()
    message = {"id": "msg_1", "role": "assistant", "content": [], "usage": {"input_tokens": 3}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}
    seen = [
        event
        for item in ({"type": "message_start", "message": message}, block, delta)
        for event in reading.feed("chunk", chunk(item))
    ]
    assert [event.text for event in seen if type(event).__name__ == "TextDelta"] == ["Hello"]


@pytest.mark.parametrize("payload", [b'{"message": "Too many tokens"}', b"", b"[", b"3"])
def test_an_exception_is_an_event(payload: bytes) -> None:
    """Throttling can be tried again, whatever its payload says."""
    (event,) = decoder().feed(FAILED + "throttlingException", payload)
    assert type(event).__name__ == "Error" and "rate" in str(event)
