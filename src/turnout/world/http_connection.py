"""One connection of HTTP/1.1: a request goes out, its response comes back, and nothing else is read.

Written on `asyncio.Protocol`, because a streamed reply is thousands of small arrivals: each costs one
call from the loop here, where a client on asyncio's streams pays for tasks and timers around it
(`python -m bench http_clients`).
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Mapping
from typing import Any

from .http_response import ResponseFault, ResponseHead, ResponseReader

MOST_UNREAD = 1024 * 1024
"""Bytes that wait for the reader before reading from the socket is paused."""


class HttpConnection(asyncio.Protocol):
    """A socket to one server, for one request after the other."""

    def __init__(self) -> None:
        self.idle_since = 0.0
        self._transport: Any = None
        self._reader: ResponseReader | None = None
        self._fault: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._unread_size = 0
        self._is_paused = False
        self._is_lost = False

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            self.abort()  # nothing was asked for
            return
        try:
            reader.feed(data)
        except ResponseFault as fault:
            self._fail_with(fault)
            return
        self._unread_size += len(data)
        if self._unread_size > MOST_UNREAD and not self._is_paused and not reader.is_complete:
            self._transport.pause_reading()
            self._is_paused = True
        self._wake_reader()

    def eof_received(self) -> bool:
        self._end_of_input(None)
        return False  # and so the transport closes itself

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._end_of_input(exc)

    def _end_of_input(self, exc: Exception | None) -> None:
        self._is_lost = True
        reader = self._reader
        if reader is None or reader.is_complete or self._fault is not None:
            return
        try:
            if exc is not None:
                raise ResponseFault(f"the connection broke: {exc or type(exc).__name__}")
            reader.close()
        except ResponseFault as fault:
            self._fault = fault
        self._wake_reader()

    def _fail_with(self, fault: Exception) -> None:
        self._fault = fault
        self.abort()
        self._wake_reader()

    def _wake_reader(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the transport of a session calls

    async def send(self, method: str, data: bytes) -> ResponseHead:
        """Send a request, and wait for the head of its response."""
        self._reader = reader = ResponseReader(method)
        self._unread_size = 0
        self._transport.write(data)
        while reader.head is None:
            await self._wait_for_data()
        return reader.head

    async def read(self) -> bytes:
        """The next part of the body, as much as has arrived; empty at its end."""
        reader = self._reader
        assert reader is not None
        while not reader.body:
            if reader.is_complete:
                return b""
            await self._wait_for_data()
        parts, reader.body, self._unread_size = reader.body, [], 0
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _wait_for_data(self) -> None:
        """Wait until something arrives, or raise what went wrong."""
        if self._fault is not None:
            raise self._fault
        if self._is_lost:
            raise ResponseFault("the connection is closed")
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def finish(self, now: float) -> bool:
        """Give the response back; whether the connection can carry another request."""
        reader, self._reader = self._reader, None
        can_be_reused = reader is not None and reader.can_be_followed and not reader.body
        if not can_be_reused or self._is_lost or self._is_paused or self._transport.is_closing():
            self.abort()
            return False
        if self._transport.get_write_buffer_size():  # the server answered before it had read the request
            self.abort()
            return False
        self.idle_since = now
        return True

    @property
    def is_usable(self) -> bool:
        """Whether an idle connection is open, and nothing has arrived that was not asked for."""
        if self._is_lost or self._transport.is_closing():
            return False
        # The loop may not have looked at the socket yet. Bytes or an end that wait there would be read
        # as the beginning of the next response.
        return not _is_readable(self._transport.get_extra_info("socket"))

    async def start_tls(self, context: Any, host: str) -> None:
        """TLS inside this connection, which so far was a tunnel's."""
        self._reader = None
        loop = asyncio.get_running_loop()
        self._transport = await loop.start_tls(self._transport, self, context, server_hostname=host)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _is_readable(socket: Any) -> bool:
    number = socket.fileno()
    if number < 0:
        return True
    if hasattr(select, "poll"):  # select() takes no number above 1,023
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([number], [], [], 0)[0])


def request_bytes(method: str, target: str, host: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """A request as it goes on the wire. The caller has checked the headers."""
    lines = [f"{method} {target} HTTP/1.1", f"host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items() if name.lower() not in OURS]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


OURS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers that say how this connection works, so the connection writes them."""
