"""A model behind a gateway: a process of its own on loopback that answers Chat completions.

A streamed reply has as many words as the number in the model's name: `words-200`. Words come one by one, as
from a model: a gateway that is woken for each of them does its work for each of them.
"""

from __future__ import annotations

import asyncio
import re
from functools import cache
from typing import Any

import msgspec

encode = msgspec.json.Encoder().encode
COUNTS = {"prompt_tokens": 812, "completion_tokens": 95, "total_tokens": 907}
BASE = {"id": "chatcmpl-C3kTqXbTNVgI1t8yQwR0", "created": 1_763_000_000}
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
AT_ONCE = 10  # a reply of so few words comes in one go
PAUSE, SHORT_PAUSE = 0.02, 0.002  # seconds between words; short in long replies, which come alone
LONG = 200


def _chunk(choices: list[Any], model: str, **more: Any) -> bytes:
    payload = {**BASE, "object": "chat.completion.chunk", "model": model, "choices": choices, **more}
    data = b"data: " + encode(payload) + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


@cache
def stream_writes(words: int) -> tuple[bytes, ...]:
    """The pieces of a streamed reply, as they are written."""
    model = f"words-{words}"
    events = [_chunk([{"index": 0, "delta": {"content": "word "}, "finish_reason": None}], model)] * words
    ending = _chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}], model)
    done = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    return (STREAM_HEAD, *events, ending + _chunk([], model, usage=COUNTS) + done)


@cache
def whole_reply(model: str) -> bytes:
    message = {"role": "assistant", "content": "One word after the other."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = encode({**BASE, "object": "chat.completion", "model": model, "choices": [choice], "usage": COUNTS})
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    return head + body


def _pause_of(words: int) -> float:
    if words <= AT_ONCE:
        return 0.0
    return SHORT_PAUSE if words >= LONG else PAUSE


class ChatUpstream(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, mark, rest = bytes(self._received).partition(b"\r\n\r\n")
        if not mark:
            return
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        if length is None or len(rest) < int(length[1]):
            return
        self._received.clear()
        named = re.search(rb'"model": ?"[^"]*?words-(\d+)"', rest)
        words = int(named[1]) if named else 10
        if re.search(rb'"stream": ?true', rest):
            task = asyncio.ensure_future(self._write_stream(words))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._transport.write(whole_reply(f"words-{words}"))

    async def _write_stream(self, words: int) -> None:
        for piece in stream_writes(words):
            if self._transport.is_closing():
                return
            self._transport.write(piece)
            await asyncio.sleep(_pause_of(words))
