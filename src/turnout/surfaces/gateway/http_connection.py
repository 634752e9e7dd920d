"""HTTP/1.1 on asyncio: bytes in, requests to the handler, responses out. Nothing else has sockets.

A request is refused as soon as its head is there: who may not ask never sends a body. One task
answers the requests of a connection in their order. Reading goes on meanwhile, because the end of the
connection is how we learn that the client has gone: the task is cancelled then, and what it asked for.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Protocol

import httptools

from .values import Request, Response, json_response

MAX_BODY = 32 * 1024 * 1024
MAX_HEAD = 32 * 1024
MAX_WAITING = 8
"""Requests that a client may send ahead of their answers."""
IDLE = 60.0
"""Seconds in which a connection must send something useful."""
LEAST = 1024
"""Bytes of a body in that time: a client that sends less is only holding the connection."""
STALLED = 120.0
"""Seconds for which a client may leave what we send unread."""
SWEEP = 1.0
GRACE = 30.0
"""Seconds that open replies have to finish when the server ends."""

REASONS = {status.value: status.phrase for status in HTTPStatus}
TOO_LARGE = f"the body is larger than {MAX_BODY // 1024 // 1024} MiB; send less"


class Application(Protocol):
    """What the server serves. `admit` sees a request before its body, and may refuse it."""

    def admit(self, request: Request) -> Response | None: ...

    def refusal(self, request: Request, status: int, message: str) -> Response: ...

    async def answer(self, request: Request) -> Response: ...


class HttpServer:
    """Listens, and ends gracefully."""

    def __init__(self, application: Application, *, idle: float = IDLE, grace: float = GRACE) -> None:
        self.application = application
        self.idle = idle
        self.connections: set[ClientConnection] = set()
        self.is_closing = False
        self._grace = grace
        self._servers: list[asyncio.Server] = []
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self, sockets: list[Any], tls: ssl.SSLContext | None = None) -> None:
        loop = asyncio.get_running_loop()
        for each in sockets:
            made = await loop.create_server(lambda: ClientConnection(self), sock=each, ssl=tls, backlog=1024)
            self._servers.append(made)
        self._sweeper = loop.create_task(self._sweep())

    async def close(self) -> None:
        """Take no new request, let open ones finish for a while, then end them."""
        self.is_closing = True
        for server in self._servers:
            server.close()
        for connection in tuple(self.connections):
            connection.close_if_idle()
        ends = asyncio.get_running_loop().time() + self._grace
        while self.connections and asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(0.05)
        for connection in tuple(self.connections):
            connection.abort()
        if self._sweeper is not None:
            self._sweeper.cancel()
        await asyncio.sleep(0)  # the tasks of ended connections see their cancellation

    async def _sweep(self) -> None:
        """One timer for all connections, so that a request costs none."""
        every = min(SWEEP, self.idle / 4)
        while True:
            await asyncio.sleep(every)
            now = asyncio.get_running_loop().time()
            for connection in tuple(self.connections):
                connection.check_time(now)


class ClientConnection(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._application = server.application
        self._parser = httptools.HttpRequestParser(self)
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Request, Response | None, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._transport: Any = None
        self._peer, self._is_tls = "", False
        self._can_write: asyncio.Future[None] | None = None
        self._blocked_since = 0.0
        self._deadline = self._loop.time() + server.idle
        self._refused = False  # an answer that ends the connection is on its way: the rest is not read
        self._size = self._size_before = 0  # of the body: now, and when the time was last looked at
        self._start_message()

    # Of the connection

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self._peer = peer[0] if isinstance(peer, tuple) else "local"
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self)
        if self._task is not None:
            self._task.cancel()
        if self._can_write is not None and not self._can_write.done():
            self._can_write.cancel()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        was_in_head = self._is_in_head
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # A server may answer in HTTP/1.1 (RFC 9110 7.8). The parser stops here: this answer is the last.
            self._refused = True
            if self._waiting:
                self._waiting[-1] = (*self._waiting[-1][:2], False)
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, _StopReading):
                raise
        except httptools.HttpParserError as error:
            self._refuse_now(400, f"this is not HTTP: {error}; send an HTTP/1.1 request")
        else:
            if was_in_head and self._is_in_head:
                self._check_head_size(len(data))

    def _check_head_size(self, more: int) -> None:
        """Refuse a head that does not end."""
        self._head_size += more
        if self._head_size > MAX_HEAD:
            self._refuse_now(431, f"the headers are larger than {MAX_HEAD} bytes; send fewer")

    def pause_writing(self) -> None:
        self._can_write = self._loop.create_future()
        self._blocked_since = self._loop.time()

    def resume_writing(self) -> None:
        if self._can_write is not None and not self._can_write.done():
            self._can_write.set_result(None)
        self._can_write = None

    def check_time(self, now: float) -> None:
        """Close a connection that sends nothing useful, or reads nothing."""
        if self._can_write is not None and now - self._blocked_since > STALLED:
            self.abort()
        elif self._task is None and now > self._deadline:
            if self._has_head and self._size - self._size_before >= LEAST:
                self._size_before, self._deadline = self._size, now + self._server.idle
            else:
                self.abort()

    def close_if_idle(self) -> None:
        if self._task is None:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    # Of the parser

    def _start_message(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._head_size = 0
        self._has_head = False
        self._is_in_head = False
        self._pieces: list[bytes] = []
        self._size = self._size_before = 0
        self._request: Request | None = None

    def on_message_begin(self) -> None:
        self._start_message()
        self._is_in_head = True

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode("latin-1").lower()
        if key == "host" and key in self._headers:
            self._headers["host"] = ""  # RFC 9112 3.2: more than one Host is not valid
            return
        self._headers[key] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._has_head, self._is_in_head = True, False
        method = self._parser.get_method().decode("latin-1")
        url = self._url.decode("latin-1")
        try:
            request = Request.of(method, url, self._headers, peer=self._peer, is_tls=self._is_tls)
        except ValueError:
            request = Request(method, "/", headers=self._headers, peer=self._peer)
            self._refuse_request(request, self._application.refusal(request, 400, "the address is not valid"))
        self._request = request
        if len(self._url) + sum(len(k) + len(v) for k, v in self._headers.items()) > MAX_HEAD:
            why = f"the headers are larger than {MAX_HEAD} bytes; send fewer"
            self._refuse_request(request, self._application.refusal(request, 431, why))
        if (refused := self._application.admit(request)) is not None:
            if not self._has_body():
                self._pieces = []
                self._waiting.append((request, refused, True))
                self._request = None
                return
            self._refuse_request(request, refused)
        if self._announced_size() > MAX_BODY:
            self._refuse_request(request, self._application.refusal(request, 413, TOO_LARGE))
        if self._headers.get("expect", "").lower() == "100-continue":
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        if self._request is None:
            return
        self._pieces.append(body)
        self._size += len(body)
        if self._size > MAX_BODY:
            self._refuse_request(self._request, self._application.refusal(self._request, 413, TOO_LARGE))

    def on_message_complete(self) -> None:
        request = self._request
        if request is not None:
            request.body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
            self._pieces = []
            self._waiting.append((request, None, self._parser.should_keep_alive()))
            self._request = None
        self._has_head, self._head_size = False, 0
        if len(self._waiting) > MAX_WAITING:
            self._refused = True
            raise _StopReading
        if self._task is None and self._waiting:
            self._task = self._loop.create_task(self._answer_all())

    def _has_body(self) -> bool:
        return self._announced_size() > 0 or "transfer-encoding" in self._headers

    def _announced_size(self) -> int:
        given = self._headers.get("content-length", "0")
        return int(given) if given.isdecimal() else 0

    # Refusals

    def _refuse_request(self, request: Request, answer: Response) -> None:
        """Answer before the request was read, and end the connection: its rest is of no use."""
        self._refused = True
        self._request = None
        self._waiting.append((request, answer, False))
        if self._task is None:
            self._task = self._loop.create_task(self._answer_all())
        raise _StopReading

    def _refuse_now(self, status: int, message: str) -> None:
        with suppress(_StopReading):
            request = Request("GET", "/", headers=self._headers, peer=self._peer)
            self._refuse_request(request, self._application.refusal(request, status, message))

    # Answers

    async def _answer_all(self) -> None:
        keep = True
        while self._waiting and keep:
            request, answer, keep = self._waiting.popleft()
            keep = keep and not self._server.is_closing
            if answer is None:
                answer = await self._application.answer(request)
            await self._send_answer(request, answer, keep)
        self._task = None
        self._deadline = self._loop.time() + self._server.idle
        if not keep or self._server.is_closing:
            await self._end_sending()

    async def _end_sending(self) -> None:
        """Close, after what was sent has left; unread bytes of the client must not cut it off."""
        if not self._refused:
            self._transport.close()
            return
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._deadline = self._loop.time() + min(1.0, self._server.idle)

    async def _send_answer(self, request: Request, answer: Response, keep: bool) -> None:
        head = _head_lines(answer)
        if not keep:
            head.append("connection: close")
        if isinstance(answer.body, bytes):
            head.append(f"content-length: {len(answer.body)}")
            body = b"" if request.method == "HEAD" else answer.body
            self._transport.write(_head_bytes(head) + body)
            return
        head.append("transfer-encoding: chunked")
        await self._send_pieces(_head_bytes(head), answer.body)

    async def _send_pieces(self, head: bytes, pieces: AsyncIterator[bytes]) -> None:
        """Chunks as they come; the head goes with the first of them."""
        write = self._transport.write
        try:
            async for piece in pieces:
                if piece:
                    write(b"%b%x\r\n%b\r\n" % (head, len(piece), piece))
                    head = b""
                    if self._can_write is not None:
                        await self._can_write
            write(head + b"0\r\n\r\n")
        except CutReply:
            write(head)
            self._refused = False
            self._transport.close()  # without the last chunk: the client sees that the reply was cut
        finally:
            if (close := getattr(pieces, "aclose", None)) is not None:
                await close()


class _StopReading(Exception):
    """The rest of what the client sends is not read."""


class CutReply(Exception):
    """Raised by a body to end the connection in the middle of it."""


def _head_lines(answer: Response) -> list[str]:
    reason = REASONS.get(answer.status, "")
    return [f"HTTP/1.1 {answer.status} {reason}", *(f"{k}: {v}" for k, v in answer.headers.items())]


def _head_bytes(lines: list[str]) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def error_response(status: int, message: str) -> Response:
    """A refusal in a shape that belongs to no API."""
    return json_response({"error": {"message": message, "type": "gateway_error", "code": status}}, status)


RunUntil = Callable[[], Awaitable[None]]
