"""A server on loopback that says exactly the bytes it is told to, and keeps what it was sent."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from msgspec import Struct

END = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"


class Request(Struct):
    """One request as it arrived, and by which connection."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int


Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Its requests in order, its connections counted."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.scheme = "http"
        self.port = 0
        self._answer = answer
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection, task = self.connections, asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while not writer.is_closing():
                request = await _read(reader, connection)
                self.requests.append(request)
                await self._answer(request, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the other side has gone
        finally:
            self._open.discard(task)
            writer.close()

    async def close(self) -> None:
        for task in [*self._open]:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)


async def _read(reader: asyncio.StreamReader, connection: int) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line, headers, body, connection)


@asynccontextmanager
async def raw_server(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    made = RawServer(answer)
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    made.port = listening.sockets[0].getsockname()[1]
    made.scheme = "https" if tls else "http"
    try:
        yield made
    finally:
        listening.close()
        await made.close()
        with suppress(OSError):
            await listening.wait_closed()


# What it may say


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def headers(*more: str) -> bytes:
    return STREAM + "".join(f"{field}\r\n" for field in more).encode() + b"\r\n"


def said(text: str = "", finish: str | None = None) -> bytes:
    """One event of a Chat stream."""
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    body = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "gpt-5.1",
        "choices": [choice],
    }
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def whole(text: str) -> bytes:
    """A Chat stream from its first word to its end."""
    return said(text) + said(finish="stop") + DONE


def reply(text: str = "Hello.") -> bytes:
    """A whole response that leaves the connection open."""
    return headers() + chunk(whole(text)) + END


def answering(*parts: bytes, then: Callable[[asyncio.StreamWriter], Awaitable[None]] | None = None) -> Answer:
    """Say these bytes to everyone, and then do that."""

    async def answer(_: Request, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if then is not None:
            await then(writer)

    return answer


async def silence(_: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def reset(writer: asyncio.StreamWriter) -> None:
    """Cut the line so that the other side is told so hard (RST)."""
    await asyncio.sleep(0.02)  # what was said before is read first
    sock = writer.get_extra_info("socket")
    sock.setsockopt(1, 13, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # SO_LINGER of no time at all
    writer.transport.abort()


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
