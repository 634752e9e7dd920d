"""A transport that sends as often, and as much at once, as a pool may. Sessions wait before they send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from weakref import WeakKeyDictionary

from ..model import Origin
from ..world.ports import Incoming, Outgoing, Transport
from .rate import RateLimits


class PooledTransport:
    """Requests of many sessions over one transport, with limits that hold for all of them together."""

    def __init__(self, inner: Transport, rates: RateLimits, at_once: int) -> None:
        self._inner = inner
        self._rates = rates
        self._at_once = at_once
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @property
    def asks_for_key(self) -> bool:
        return bool(getattr(self._inner, "asks_for_key", True))

    @asynccontextmanager
    async def admit(self, origin: Origin) -> AsyncIterator[None]:
        """Wait for a place and for the moment to send. The time limits of the request begin after that."""
        loop = asyncio.get_running_loop()
        if loop not in self._slots:  # a semaphore belongs to one loop, a pool need not
            self._slots[loop] = asyncio.Semaphore(self._at_once)
        async with self._slots[loop]:
            await asyncio.sleep(self._rates.reserve(origin, loop.time()))
            yield

    def send(self, request: Outgoing) -> AbstractAsyncContextManager[Incoming]:
        return self._inner.send(request)
