"""HTTP on a socket: what is refused before it is read, what is closed, and what ends when a client goes."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from turnout.surfaces.gateway.http_connection import MAX_BODY, MAX_HEAD, CutReply, HttpServer, error_response
from turnout.surfaces.gateway.values import Request, Response, json_response


class Echo:
    """Answers with what it was asked; refuses /no before the body."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.asked: list[Request] = []

    def admit(self, request: Request) -> Response | None:
        return error_response(401, "no") if request.path == "/no" else None

    def refusal(self, request: Request, status: int, message: str) -> Response:
        return error_response(status, message)

    async def answer(self, request: Request) -> Response:
        self.asked.append(request)
        if request.path == "/stream":
            return Response(200, {"content-type": "text/event-stream"}, self._count())
        if request.path == "/cut":
            return Response(200, {}, self._cut())
        about = {"path": request.path, "query": request.query, "size": len(request.body)}
        return json_response(about)

    async def _count(self) -> AsyncIterator[bytes]:
        try:
            for number in range(1000):
                yield b"data: %d\n\n" % number
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def _cut(self) -> AsyncIterator[bytes]:
        yield b"half"
        raise CutReply


Talk = Callable[[Echo, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, Any]]


def talked(talk: Talk, **options: Any) -> Any:
    """What a talk over one connection gives."""

    async def main() -> Any:
        echo = Echo()
        server = HttpServer(echo, **options)
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        await server.start([listening])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await asyncio.wait_for(talk(echo, reader, writer), 20)
        finally:
            writer.close()
            await server.close()

    return asyncio.run(main())


async def response_of(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split()[1])
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return status, await reader.readexactly(int(line.partition(b":")[2]))
    return status, b""


def test_requests_of_one_connection_are_answered_in_order() -> None:
    """Also those that were sent ahead, and one whose body came in chunks."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[Any]:
        writer.write(b"GET /a?x=1&key=%20s HTTP/1.1\r\nhost: h\r\n\r\n")
        writer.write(b"POST /b HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\n\r\nabc")
        writer.write(b"POST /c HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n")
        writer.write(b"2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n")
        return [json.loads((await response_of(reader))[1]) for _ in range(3)]

    first, second, third = talked(talk)
    assert first == {"path": "/a", "query": {"x": "1", "key": " s"}, "size": 0}
    assert (second["size"], third["size"]) == (3, 5)


def test_a_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    """413 comes while the client has sent only the head."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(b"POST /a HTTP/1.1\r\nhost: h\r\ncontent-length: %d\r\n\r\n" % (50 * 1024 * 1024))
        status, _ = await response_of(reader)
        return status, await reader.read(), echo.asked

    assert talked(talk) == (413, b"", [])


def test_a_body_in_chunks_is_cut_at_the_limit() -> None:
    """A client that does not say how much comes is stopped when it is too much."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(b"POST /a HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + bytes(0x100000) + b"\r\n"
        for _ in range(MAX_BODY // 0x100000 + 2):
            writer.write(chunk)
            await asyncio.sleep(0)
        return (await response_of(reader))[0], echo.asked

    assert talked(talk) == (413, [])


def test_a_large_body_is_read_whole() -> None:
    """Many pieces, far above the limit of the headers, and another request behind it."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        sizes = []
        for size in (3_000_000, 5, 700_000):
            writer.write(b"POST /a HTTP/1.1\r\nhost: h\r\ncontent-length: %d\r\n\r\n" % size + bytes(size))
            sizes.append(json.loads((await response_of(reader))[1])["size"])
        return sizes

    assert talked(talk) == [3_000_000, 5, 700_000]


def test_who_may_not_ask_sends_no_body() -> None:
    """The refusal comes after the head, and the connection ends."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(b"POST /no HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\n")
        return (await response_of(reader))[0], await reader.read(), echo.asked

    assert talked(talk) == (401, b"", [])


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /a HTTP/1.1\r\nhost: h\r\nx: " + b"a" * (MAX_HEAD + 10) + b"\r\n\r\n", 431),
        (b"this is not http\r\n\r\n", 400),
        (b"GET /a HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n", 200),
    ],
)
def test_what_is_not_a_request_is_refused(sent: bytes, status: int) -> None:
    """Headers beyond the limit, other protocols; an upgrade is not taken, and the answer is plain HTTP."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(sent)
        return (await response_of(reader))[0]

    assert talked(talk) == status


@pytest.mark.parametrize(
    "sent", [b"", b"GET /a HTTP/1.1\r\n", b"POST /a HTTP/1.1\r\ncontent-length: 9\r\n\r\nab"]
)
def test_a_connection_that_sends_nothing_useful_is_closed(sent: bytes) -> None:
    """Before a request, in its head, and in its body."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(sent)
        try:
            return await reader.read()
        except ConnectionError:
            return b""

    assert talked(talk, idle=0.2) == b""


def test_a_reply_under_way_is_not_idle() -> None:
    """The limit is for clients that send nothing, not for models that think."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET /stream HTTP/1.1\r\nhost: h\r\n\r\n")
        return await reader.readuntil(b"data: 60\n\n")

    assert b"data: 0\n\n" in talked(talk, idle=0.2, grace=0.1)


def test_a_client_that_goes_stops_the_answer() -> None:
    """The task of the answer is cancelled within a second."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"GET /stream HTTP/1.1\r\nhost: h\r\n\r\n")
        await reader.readuntil(b"data: 1\n\n")
        writer.transport.abort()
        await asyncio.wait_for(echo.cancelled.wait(), 1)
        return True

    assert talked(talk)


def test_a_cut_reply_has_no_end() -> None:
    """The client sees that the body is not whole: the last chunk is missing."""

    async def talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET /cut HTTP/1.1\r\nhost: h\r\n\r\n")
        return await reader.read()

    answer = talked(talk)
    assert answer.endswith(b"4\r\nhalf\r\n")


def test_ending_lets_an_open_reply_finish() -> None:
    """A stream goes on after the server took its last request; a new connection is refused."""

    class Slow(Echo):
        async def _count(self) -> AsyncIterator[bytes]:
            for number in range(20):
                yield b"data: %d\n\n" % number
                await asyncio.sleep(0.02)

    async def main() -> bytes:
        slow = Slow()
        server = HttpServer(slow)
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        await server.start([listening])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /stream HTTP/1.1\r\nhost: h\r\n\r\n")
        await reader.readuntil(b"data: 1\n\n")
        closing = asyncio.create_task(server.close())
        await asyncio.sleep(0.02)
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", port)
        rest = await reader.read()
        await closing
        writer.close()
        return rest

    assert b"data: 19\n\n" in asyncio.run(main())
