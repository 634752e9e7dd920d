"""HTTP, the one place: a request goes to the address it names and nowhere else.

Redirects are not followed and cookies are not kept, so a key never travels to another host
and a server is told nothing that we did not mean to say. Streams are asked for unencoded; a
server that compresses anyway is inflated within a cap. Proxies and certificates come from
the environment, as users expect; this machine itself is always reached directly.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2

from ..errors import ProviderError, StreamError, UsageError
from .inflate import Inflater
from .ports import Outgoing
from .unread_bytes import has_unread_bytes

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_RESPONSE = 256 * 1024 * 1024
KEEP_ALIVE = 60.0
DIRECT = {"all://127.0.0.1": None, "all://localhost": None, "all://[::1]": None}
SETTINGS = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")

_forbidden = False


def forbid_requests(forbid: bool = True) -> None:
    """For tests: let nothing but loopback be reached from this process."""
    global _forbidden
    _forbidden = forbid


class HttpTransport:
    """Sends requests over connections that are kept and used again.

    A connection belongs to the event loop it was opened in, so each loop has a client of its own.
    """

    def __init__(self) -> None:
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClient] = WeakKeyDictionary()

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[HttpAnswer]:
        _check_allowed(_host(request.url))
        _check_headers(request.headers)
        headers = {"accept-encoding": "identity", **request.headers}
        client = self._client_of(asyncio.get_running_loop())
        await client.begin()
        try:
            async with client.http.stream(
                request.method, request.url, headers=headers, content=request.body
            ) as answer:
                if answer.has_redirect_location:
                    raise _redirected(request.url, answer)
                answer.stream = WholeBody(answer)
                yield HttpAnswer(answer)
        except httpx2.TimeoutException as error:
            raise TimeoutError(str(error) or type(error).__name__) from error
        except httpx2.InvalidURL as error:
            raise UsageError(f"{request.url!r} is no address: {error}") from error
        except httpx2.TransportError as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from error

    def _client_of(self, loop: asyncio.AbstractEventLoop) -> LoopClient:
        if (found := self._clients.get(loop)) is not None:
            return found
        for each in [each for each in self._clients if each.is_closed()]:
            del self._clients[each]
        self._clients[loop] = made = LoopClient()
        return made

    async def close(self) -> None:
        """Close the connections of the loop that runs; another loop closes its own when it ends."""
        if (client := self._clients.pop(asyncio.get_running_loop(), None)) is not None:
            await client.close()


class LoopClient:
    """The HTTP client of one event loop, closed at the latest when the loop ends.

    `asyncio.run` closes the asynchronous generators that are left over, and asks nobody else.
    """

    def __init__(self) -> None:
        self.http = _client()
        self._life: AsyncGenerator[None, None] | None = None

    async def begin(self) -> None:
        if self._life is None:
            self._life = _until_closed(self.http)
            await anext(self._life)

    async def close(self) -> None:
        if self._life is not None:
            await self._life.aclose()


async def _until_closed(http: httpx2.AsyncClient) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await http.aclose()


class WholeBody(httpx2.AsyncByteStream):
    """A response's body. At its end, a connection that holds more than the response is closed.

    What came with a response and is not part of it would be read as the answer to the next request.
    """

    def __init__(self, answer: httpx2.Response) -> None:
        self._stream: Any = answer.stream
        self._network = answer.extensions["network_stream"]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(aiter(self._stream)) as chunks:
            async for chunk in chunks:
                yield chunk
        if has_unread_bytes(self._stream, self._network):
            await self._network.aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()


class HttpAnswer:
    """Status and headers at once, the body as it comes."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._answer.headers

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        encoding = self._answer.headers.get("content-encoding", "identity").strip().lower()
        raw = self._answer.aiter_raw()
        return raw if encoding in ("", "identity") else _inflated(raw, encoding)


async def _inflated(raw: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    inflater, size = Inflater(encoding), 0
    async for chunk in raw:
        for piece in inflater.feed(chunk):
            size += len(piece)
            if size > MAX_RESPONSE:
                raise StreamError(f"the response is larger than {MAX_RESPONSE} bytes", kind="too_large")
            yield piece


def _client() -> httpx2.AsyncClient:
    try:
        client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=30.0, pool=30.0),
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE),
            follow_redirects=False,
            mounts=DIRECT,
        )
    except (ValueError, ImportError, OSError, httpx2.InvalidURL) as error:
        names = [name for name in SETTINGS if os.environ.get(name) or os.environ.get(name.lower())]
        raise UsageError(
            f"the environment's settings for HTTP do not work ({', '.join(names)}): {error}"
        ) from error
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(f"{url!r} is no address: one begins with http:// or https:// and names a host")
    return host


def _check_allowed(host: str) -> None:
    if _forbidden and host not in LOOPBACK:
        raise UsageError(f"requests are forbidden in this process, and this one would reach {host}")


def _check_headers(headers: Mapping[str, str]) -> None:
    """What no header may hold is said here, without the value: it may be a key."""
    for name, value in headers.items():
        if not HEADER_VALUE.fullmatch(value):
            raise UsageError(f"the value for {name!r} holds characters that no header may hold: look at it")


def _redirected(url: str, answer: httpx2.Response) -> ProviderError:
    place = answer.headers.get("location", "")[:200]
    return ProviderError(
        f"{url} sends us to {place}, and redirects are not followed: set the base URL to the right place",
        kind="not_found",
        status=answer.status_code,
    )
