"""A server at an address: the HTTP client of the MCP package, with limits on what a server may send.

Redirects are followed within the same origin only (a rule of the package), so headers go nowhere
else. We request answers without compression and refuse compressed ones: a few kilobytes could
expand without limit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ...json_size import has_more_values
from ..confine.forbidden_requests import check_request
from .config import McpServer
from .lines import LONGEST, MOST_VALUES, TOO_MANY_VALUES, UNREADABLE, request_of

CONNECT = 15.0
EVENTS = "text/event-stream"  # bounded event by event, not as a whole


@asynccontextmanager
async def http_transport(server: McpServer) -> AsyncIterator[Any]:
    """The pair of streams that the MCP client needs."""
    check_request(urlsplit(server.url).hostname or "")
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Bounded(httpx2.AsyncByteStream):
        """A body that is one message."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            body = bytearray()
            async for chunk in self._stream:
                body += chunk
                if len(body) > LONGEST:
                    raise httpx2.StreamError("the answer is too long to be read")
            if _is_heavy(body):
                raise httpx2.StreamError(TOO_MANY_VALUES)
            yield bytes(body)

        async def aclose(self) -> None:
            await self._stream.aclose()

    class BoundedEvents(Bounded):
        """A body of many messages, each an event. One that is too large is replaced by an error."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            pieces: list[bytes] = []
            async for chunk in self._stream:
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    line = b"".join([*pieces, end])
                    yield (_refusal(line) if _is_heavy(line) else line) + b"\n"
                    pieces = []
                pieces.append(rest)
                if sum(map(len, pieces)) > LONGEST:  # the package ends it there
                    yield b"".join(pieces)
                    pieces = []
            yield b"".join(pieces)

    async def bound_response(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.ReadError("the server sent a compressed answer, which was not asked for")
        is_events = response.headers.get("content-type", "").lower().startswith(EVENTS)
        response.stream = (BoundedEvents if is_events else Bounded)(response.stream)

    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **server.headers},
        timeout=httpx2.Timeout(None, connect=CONNECT, pool=CONNECT),
        event_hooks={"response": [bound_response]},
    )
    async with (
        client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LONGEST) as streams,
    ):
        yield streams


def _refusal(line: bytes) -> bytes:
    """An error event in place of the one in this line; without a request number it answers no request."""
    error = {"code": UNREADABLE, "message": TOO_MANY_VALUES}
    return b"data: " + msgspec.json.encode({"jsonrpc": "2.0", "id": request_of(line), "error": error})


def _is_heavy(data: bytes | bytearray) -> bool:
    return len(data) > MOST_VALUES and has_more_values(data.decode("latin-1"), MOST_VALUES)
