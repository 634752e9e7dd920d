"""HTTP, the one place: a request goes to the address it names and nowhere else.

Redirects are not followed, so a key never travels to another host. Streams are asked for
unencoded; a server that compresses anyway is inflated within a cap. Proxies and
certificates come from the environment, as users expect.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

from ..errors import StreamError, UsageError
from .ports import Outgoing

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_RESPONSE = 256 * 1024 * 1024
PIECE = 256 * 1024
KEEP_ALIVE = 60.0

_forbidden = False


def forbid_requests(forbid: bool = True) -> None:
    """For tests: let nothing but loopback be reached from this process."""
    global _forbidden
    _forbidden = forbid


class HttpTransport:
    """Sends requests over connections that are kept and used again."""

    def __init__(self, client: httpx2.AsyncClient | None = None) -> None:
        self._client = client or httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=30.0, pool=30.0),
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE),
            follow_redirects=False,
        )

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[HttpAnswer]:
        _check_allowed(request.url)
        headers = {"accept-encoding": "identity", **request.headers}
        try:
            async with self._client.stream(
                request.method, request.url, headers=headers, content=request.body
            ) as answer:
                yield HttpAnswer(answer)
        except httpx2.TimeoutException as error:
            raise TimeoutError(str(error) or type(error).__name__) from error
        except httpx2.InvalidURL as error:
            raise UsageError(f"{request.url!r} is no address: {error}") from error
        except httpx2.TransportError as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from error

    async def close(self) -> None:
        await self._client.aclose()


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
    """Decompress in small pieces: 300 KB of gzip may hold 300 MB."""
    if encoding not in ("gzip", "deflate"):
        raise StreamError(f"the server answered in {encoding!r}, which was not asked for")
    inflate: Any = zlib.decompressobj(31 if encoding == "gzip" else 15)
    size = 0
    async for chunk in raw:
        rest = chunk
        while rest:
            piece = inflate.decompress(rest, PIECE)
            size += len(piece)
            if size > MAX_RESPONSE:
                raise StreamError(f"the response is larger than {MAX_RESPONSE} bytes", kind="too_large")
            if piece:
                yield piece
            rest = inflate.unconsumed_tail


def _check_allowed(url: str) -> None:
    host = urlsplit(url).hostname or ""
    if _forbidden and host not in LOOPBACK:
        raise UsageError(f"requests are forbidden in this process, and this one would reach {host}")
