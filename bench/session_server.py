"""A model that answers at once: a process of its own on loopback that streams Chat completions.

After a prompt it says a few words and calls a tool five times; after the results it answers.
Every event is a chunk of its own, as servers send them, and a reply is one write.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

import msgspec

CALLS = 5
TOOL = "read_file"
SAID = "I look at five files at once, to see how requests are handled."
ANSWER = "They are handled one by one, in the order in which they came, and each gets an answer of its own."
NUMBER = "00000000"
NUMBERS = count(1)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"

encode = msgspec.json.Encoder().encode


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _data([choice], None)


def _data(choices: list[Any], usage: Any) -> bytes:
    payload = {
        "id": "chatcmpl-C3kTqXbTNVgI1t8yQwR0",
        "object": "chat.completion.chunk",
        "created": 1_763_000_000,
        "model": "gpt-5.1",
        "service_tier": "default",
        "choices": choices,
        "usage": usage,
    }
    return _chunk(b"data: " + encode(payload) + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _words(text: str) -> Iterator[bytes]:
    yield _event({"role": "assistant", "content": ""})
    for word in text.split(" "):
        yield _event({"content": f"{word} "})


def _calls() -> Iterator[bytes]:
    for index in range(CALLS):
        function = {"name": TOOL, "arguments": ""}
        yield _event(
            {
                "tool_calls": [
                    {"index": index, "id": f"call_{index}_{NUMBER}", "type": "function", "function": function}
                ]
            }
        )
        for piece in ('{"path": ', f'"src/module_{index}.py", ', '"offset": ', "1}"):
            yield _event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _reply(finish: str, *events: bytes) -> bytes:
    counted = {"prompt_tokens": 812, "completion_tokens": 95, "total_tokens": 907}
    done = _chunk(b"data: [DONE]\n\n")
    return HEAD + b"".join(events) + _event({}, finish) + _data([], counted) + done + END


CALLING = _reply("tool_calls", *_words(SAID), *_calls())
ANSWERING = _reply("stop", *_words(ANSWER))
EVENTS = CALLING.count(b"data: {") + ANSWERING.count(b"data: {")


class Model(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._body = bytearray()
        self._wanted = -1

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._body += data
        if self._wanted < 0:
            head, mark, rest = bytes(self._body).partition(b"\r\n\r\n")
            if not mark:
                return
            self._wanted = int(head.lower().partition(b"content-length:")[2].split()[0])
            self._body = bytearray(rest)
        if len(self._body) < self._wanted:
            return
        last = self._body.rfind(b'"role"')
        answered = b'"tool"' in self._body[last : last + 16]
        self._body, self._wanted = bytearray(), -1
        self._transport.write(ANSWERING if answered else self._calling())

    def _calling(self) -> bytes:
        """Ids are never used twice, and are all of one length."""
        return CALLING.replace(NUMBER.encode(), b"%08d" % next(NUMBERS))


def _serve(told: Connection, protocol: type[asyncio.Protocol]) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(protocol, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def serving(protocol: type[asyncio.Protocol]) -> Iterator[str]:
    """The address of a server in a process of its own that runs as long as the block."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs, protocol), daemon=True
    )
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


@contextmanager
def model() -> Iterator[str]:
    """The address of the model."""
    with serving(Model) as address:
        yield f"{address}/v1"
