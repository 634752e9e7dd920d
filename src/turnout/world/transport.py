"""The one place for HTTP: a request goes to the address that it names and nowhere else.

Redirects are not followed and cookies are not kept, so a key is never sent to another
host. Requests ask for an uncompressed response; if a server compresses anyway, the response
is decompressed up to a limit.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from threading import Lock
from weakref import WeakKeyDictionary

from ..errors import ProviderError, StreamError, UsageError
from ..tools.confine.forbidden_requests import check_request
from .http_connection import HttpConnection, request_bytes
from .http_pool import ConnectionPool
from .http_response import ResponseFault, ResponseHead
from .http_route import Address, Proxy, parse_address
from .inflate import Inflater
from .ports import Outgoing

MAX_RESPONSE = 256 * 1024 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


class HttpTransport:
    """Sends requests over connections that are kept and used again.

    A connection belongs to the event loop it was opened in, so each loop has its own pool.
    """

    def __init__(self) -> None:
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, ConnectionPool] = WeakKeyDictionary()
        self._lock = Lock()  # loops of several threads may ask at once

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[HttpAnswer]:
        """Send a request. The answer is open as long as the block."""
        address = parse_address(request.url)
        check_request(address.server.host)
        _check_headers(request.headers)
        pool = self._pool_of(asyncio.get_running_loop())
        try:
            async with pool.borrow(address.server) as (connection, proxy):
                data = _request_bytes(request, address, proxy)
                head = await connection.send(request.method, data)
                if head.status in REDIRECTS and "location" in head.headers:
                    raise _redirect_error(request.url, head)
                yield HttpAnswer(head, connection)
        except TimeoutError:
            raise
        except (ResponseFault, OSError) as error:  # OSError: the network, names, TLS and certificates
            raise ConnectionError(f"{address.server.host}: {error or type(error).__name__}") from error

    def _pool_of(self, loop: asyncio.AbstractEventLoop) -> ConnectionPool:
        with self._lock:
            if (found := self._pools.get(loop)) is not None:
                return found
            for each in [each for each in self._pools if each.is_closed()]:
                del self._pools[each]
            self._pools[loop] = made = ConnectionPool()
            return made

    async def close(self) -> None:
        """Close the connections of the loop that runs; another loop closes its own when it ends."""
        with self._lock:
            pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()


def _request_bytes(request: Outgoing, address: Address, proxy: Proxy | None) -> bytes:
    headers = {"accept-encoding": "identity", **request.headers}
    if address.credentials and not any(name.lower() == "authorization" for name in headers):
        headers["authorization"] = address.credentials
    target = address.path
    if proxy is not None and not address.server.is_tls:  # a proxy is told the whole address (RFC 9112 3.2.2)
        target = f"{address.server.scheme}://{address.server.authority}{address.path}"
        headers |= proxy.headers
    return request_bytes(request.method, target, address.server.authority, headers, request.body)


class HttpAnswer:
    """Status and headers at once, the body as it comes."""

    def __init__(self, head: ResponseHead, connection: HttpConnection) -> None:
        self._head = head
        self._connection = connection

    @property
    def status(self) -> int:
        return self._head.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._head.headers

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        encoding = self._head.headers.get("content-encoding", "identity").strip().lower()
        raw = BodyChunks(self._connection)
        return raw if encoding in ("", "identity") else _inflate_chunks(raw, encoding)


class BodyChunks:
    """The body of one response: each step gives all that has arrived since the last one."""

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection

    def __aiter__(self) -> BodyChunks:
        return self

    async def __anext__(self) -> bytes:
        chunk = await self._connection.read()
        if not chunk:
            raise StopAsyncIteration
        return chunk


async def _inflate_chunks(raw: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    inflater, size = Inflater(encoding), 0
    async for chunk in raw:
        for piece in inflater.feed(chunk):
            size += len(piece)
            if size > MAX_RESPONSE:
                raise StreamError(f"the response is larger than {MAX_RESPONSE} bytes", kind="too_large")
            yield piece


def _check_headers(headers: Mapping[str, str]) -> None:
    """An error names the header, and not its value: that may be a key."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot name a header; use letters, digits and '-'")
        if not HEADER_VALUE.fullmatch(value):
            raise UsageError(f"the value for {name!r} holds characters that no header may hold: look at it")


def _redirect_error(url: str, head: ResponseHead) -> ProviderError:
    place = head.headers["location"][:200]
    return ProviderError(
        f"{url} sends us to {place}, and redirects are not followed: set the base URL to the right place",
        kind="not_found",
        status=head.status,
    )
