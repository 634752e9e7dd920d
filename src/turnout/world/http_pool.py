"""The connections of one event loop: opened when needed, used again while good, closed at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .http_connection import HttpConnection, request_bytes
from .http_response import ResponseFault
from .http_route import Proxy, Server, Surroundings

CONNECT_SECONDS = 30.0
KEEP_ALIVE = 60.0
"""Seconds for which a connection without work is kept."""
MOST_IDLE = 100
"""Connections without work that are kept for one server."""

Route = tuple[Server, Proxy | None]


class ConnectionPool:
    """Lends connections. It belongs to one event loop, and is closed at the latest when the loop ends."""

    def __init__(self) -> None:
        self.surroundings = Surroundings()
        self._idle: dict[Route, list[HttpConnection]] = {}
        self._busy: set[HttpConnection] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._life: AsyncGenerator[None, None] | None = None

    @asynccontextmanager
    async def borrow(self, server: Server) -> AsyncIterator[tuple[HttpConnection, Proxy | None]]:
        """A connection for one request. It is kept only if its response was read to the end."""
        await self._begin_life()
        proxy = self.surroundings.proxy_for(server)
        route = (server, proxy)
        connection = self._take_idle(route) or await self._open_connection(route)
        self._busy.add(connection)
        try:
            yield connection, proxy
        finally:
            self._busy.discard(connection)
            if connection.finish(_now()):
                self._keep_idle(route, connection)

    def _take_idle(self, route: Route) -> HttpConnection | None:
        """The one that was used last: the others may rest until they are too old."""
        waiting = self._idle.get(route, [])
        while waiting:
            connection = waiting.pop()
            if connection.is_usable and _now() - connection.idle_since < KEEP_ALIVE:
                return connection
            connection.abort()
        return None

    def _keep_idle(self, route: Route, connection: HttpConnection) -> None:
        waiting = self._idle.setdefault(route, [])
        if len(waiting) >= MOST_IDLE:
            connection.close()
            return
        waiting.append(connection)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(KEEP_ALIVE, self._close_old)

    def _close_old(self) -> None:
        """Close what nothing used for a while; come back as long as something is left."""
        self._sweep = None
        oldest = _now() - KEEP_ALIVE
        for route, waiting in list(self._idle.items()):
            for connection in waiting:
                if connection.idle_since <= oldest:
                    connection.close()
            self._idle[route] = [each for each in waiting if each.idle_since > oldest]
            if not self._idle[route]:
                del self._idle[route]
        if self._idle:
            self._sweep = asyncio.get_running_loop().call_later(KEEP_ALIVE, self._close_old)

    async def _open_connection(self, route: Route) -> HttpConnection:
        async with asyncio.timeout(CONNECT_SECONDS):
            server, proxy = route
            connection = await self._dial(proxy.server if proxy else server)
            if proxy is not None and server.is_tls:
                try:
                    await self._open_tunnel(connection, server, proxy)
                except BaseException:
                    connection.abort()
                    raise
            return connection

    async def _dial(self, server: Server) -> HttpConnection:
        loop = asyncio.get_running_loop()
        context = self.surroundings.context if server.is_tls else None
        # Without the delay an address that does not answer (often IPv6) is waited for before the next.
        # uvloop does not know it: "create_connection() got an unexpected keyword argument".
        delay: dict[str, Any] = {"happy_eyeballs_delay": 0.25}
        _, connection = await loop.create_connection(
            HttpConnection,
            server.host,
            server.port,
            ssl=context,
            **(delay if isinstance(loop, asyncio.BaseEventLoop) else {}),
        )
        return connection

    async def _open_tunnel(self, connection: HttpConnection, server: Server, proxy: Proxy) -> None:
        """The proxy is told the host, and nothing else: no key, no path."""
        host = f"[{server.host}]" if ":" in server.host else server.host
        place = f"{host}:{server.port}"
        head = await connection.send("CONNECT", request_bytes("CONNECT", place, place, proxy.headers, b""))
        if not 200 <= head.status < 300:
            raise ResponseFault(f"the proxy refused to connect ({head.status})")
        await connection.start_tls(self.surroundings.context, server.host)

    # Its life

    async def _begin_life(self) -> None:
        # `asyncio.run` closes the asynchronous generators that are left over, and calls nothing else.
        if self._life is None:
            self._life = self._live_until_closed()
            await anext(self._life)

    async def _live_until_closed(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._close_all()
            await asyncio.sleep(0)  # the sockets are closed by the loop's next round

    def _close_all(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for waiting in self._idle.values():
            for connection in waiting:
                connection.abort()
        for connection in self._busy:
            connection.abort()
        self._idle.clear()

    async def close(self) -> None:
        if self._life is not None:
            await self._life.aclose()


def _now() -> float:
    return asyncio.get_running_loop().time()
