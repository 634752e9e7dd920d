"""A server at an address: the protocol's own HTTP client, with bounds on what it may be sent.

Redirects are followed within the same origin only (the package's rule), so headers go nowhere
else. Answers are asked for unencoded, and one that is compressed all the same is refused:
a few kilobytes could unfold without end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .config import McpServer
from .lines import LONGEST

CONNECT = 15.0
EVENTS = "text/event-stream"  # bounded event by event, not as a whole


@asynccontextmanager
async def http_transport(server: McpServer) -> AsyncIterator[Any]:
    """The pair of streams that a client wants."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > LONGEST:
                    raise httpx2.StreamError("the answer is too long to be read")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.ReadError("the server sent a compressed answer, which was not asked for")
        if not response.headers.get("content-type", "").lower().startswith(EVENTS):
            response.stream = Bounded(response.stream)

    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **server.headers},
        timeout=httpx2.Timeout(None, connect=CONNECT, pool=CONNECT),
        event_hooks={"response": [bound]},
    )
    async with (
        client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LONGEST) as streams,
    ):
        yield streams
