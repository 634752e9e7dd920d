"""A transport that reads small pieces of a stream in batches, a few times a second.

A fast model sends hundreds of packets a second, and each one costs a trip through the event
loop, the HTTP client and the decoders. A screen shows ten frames a second, so after a small
piece we wait a moment for more. Large pieces are taken as they come.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from ...world.ports import Incoming, Outgoing

PAUSE = 0.02
SMALL = 4096


class PacedTransport:
    """Sends over HTTP. The HTTP client is loaded with the first request."""

    def __init__(self) -> None:
        self._inner: Any = None

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        if self._inner is None:
            from ...world.transport import HttpTransport

            self._inner = HttpTransport()
        async with self._inner.send(request) as answer:
            yield PacedAnswer(answer)

    async def close(self) -> None:
        if self._inner is not None:
            await self._inner.close()
            self._inner = None


class PacedAnswer:
    """An answer whose small pieces are read in batches."""

    def __init__(self, answer: Incoming) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._answer.headers

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        return self._gathered_chunks()

    async def _gathered_chunks(self) -> AsyncIterator[bytes]:
        """Sleep after a small piece that we had to wait for; pieces that arrive meanwhile come at once."""
        loop, chunks = asyncio.get_running_loop(), aiter(self._answer.chunks)
        turned = 0  # turns of the event loop; a piece that is already there needs none

        def count_turn() -> None:
            nonlocal turned
            turned += 1

        while True:
            loop.call_soon(count_turn)
            before = turned
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            yield chunk
            if turned != before and len(chunk) < SMALL:
                await asyncio.sleep(PAUSE)
