"""A reply comes in whatever pieces the caller's client hands out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import turnout

WIRE = (
    b'data: {"choices":[{"index":0,"delta":{"content":"\xc3\xa9t\xc3\xa9"}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
TEXT = WIRE.decode()


@pytest.mark.parametrize(
    "pieces", [[TEXT[:50], TEXT[50:]], (TEXT[:50], TEXT[50:]), [memoryview(WIRE)], [bytearray(WIRE)]]
)
def test_pieces_may_be_text_or_any_kind_of_bytes(pieces: Any) -> None:
    """Clients hand out bytes, views of them, or text that they decoded."""
    assert turnout.decode("openai:gpt-5", pieces).blocks == (turnout.Text("été"),)


def test_a_stream_of_text_is_a_stream() -> None:
    """`aiter_text()` serves as well as `aiter_bytes()`."""

    async def pieces() -> AsyncIterator[str]:
        yield TEXT[:50]
        yield TEXT[50:]

    async def said() -> list[str]:
        events = turnout.stream("openai:gpt-5", pieces())
        return [event.text async for event in events if isinstance(event, turnout.TextDelta)]

    assert "".join(asyncio.run(said())) == "été"


@pytest.mark.parametrize("reply", [None, 5, [5], iter([5])])
def test_what_is_no_reply_is_named(reply: Any) -> None:
    """The caller's mistake is a clear error of ours, or a reply that makes no sense."""
    with pytest.raises((turnout.UsageError, turnout.StreamError)):
        turnout.decode("openai:gpt-5", reply)
