"""All MCP servers of a session: which are trusted, their states, and their tools.

Servers start and change at any time; the registry changes only when `update` is called, between two
turns. A server is used after two steps: the user agrees to start it, then, after seeing what it
offers, to use it. Both answers are saved, and asked for again when anything has changed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ...errors import UsageError
from ..declare.registry import Registry
from ..declare.tool import Tool
from .config import McpServer
from .connection import Connection, McpLimits
from .offering import make_tool
from .pins import Pins, ServerOffer, repeated_names
from .review import Review, review_launch, review_tools

State = Literal["disabled", "untrusted", "starting", "unapproved", "ready", "waiting", "failed", "closed"]

PATIENCE = 10.0


class McpStatus(Struct, frozen=True):
    """The state of a server: `untrusted` is not started, `unapproved` runs but is not used.

    `detail` says why; `left_out` lists the tools that cannot be offered, with the reason; `errors` is
    the error output of its program.
    """

    name: str
    state: State
    described: str
    source: str = ""
    detail: str = ""
    tools: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    errors: str = ""


class Update(Struct, frozen=True):
    """What changed in the registry."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


async def mcp_tools(
    registry: Registry,
    servers: Iterable[McpServer],
    *,
    pins: str | os.PathLike[str],
    environment: Mapping[str, str],
    folder: str | os.PathLike[str],
    patience: float = PATIENCE,
    **options: Any,
) -> McpServers:
    """Start the trusted servers, wait for them for a short time, and add their tools to the registry."""
    found = McpServers(servers, pins=pins, environment=environment, folder=folder, **options)
    found.start()
    await found.settle(patience)
    found.update(registry)
    return found


class McpServers:
    """The servers of one session. `on_change` is called when one of them changes its state."""

    def __init__(
        self,
        servers: Iterable[McpServer],
        *,
        pins: str | os.PathLike[str],
        environment: Mapping[str, str],
        folder: str | os.PathLike[str],
        limits: McpLimits | None = None,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        self._pins = Pins(pins)
        self._limits = limits or McpLimits()
        self._kept: dict[str, _KeptServer] = {}
        for server in servers:
            connection = Connection(
                server,
                trusts=partial(self._pins.trusts, server),
                environment=environment,
                folder=os.fspath(folder),
                limits=self._limits,
                on_change=on_change or _do_nothing,
            )
            self._kept[server.name] = _KeptServer(connection, self._pins)
        self._registered: dict[str, Tool] = {}

    def start(self) -> None:
        """Start every server whose launch the user has agreed to."""
        for kept in self._kept.values():
            if kept.may_start:
                kept.connection.start()

    async def settle(self, seconds: float = PATIENCE) -> None:
        """Wait until no server is starting, or until the time is over."""
        waiting = [
            asyncio.ensure_future(kept.connection.wait_settled()) for kept in self._kept.values() if kept.runs
        ]
        if not waiting:
            return
        await asyncio.wait(waiting, timeout=seconds)
        for each in waiting:
            each.cancel()

    def update(self, registry: Registry) -> Update:
        """Make the registry's MCP tools those that may be used now. Call it between two turns."""
        wanted: dict[str, Tool] = {}
        for kept in self._kept.values():
            wanted = {**kept.tools(self._limits), **wanted}  # the first server with a name keeps it
        gone = [name for name, tool in self._registered.items() if wanted.get(name) is not tool]
        for name in gone:
            if name in registry and registry[name] is self._registered[name]:
                registry.remove(name)
            del self._registered[name]
        added = [name for name in wanted if name not in self._registered and name not in registry]
        for name in added:
            registry.add(wanted[name])
            self._registered[name] = wanted[name]
        return Update(tuple(added), tuple(gone))

    # What the user sees and decides

    def status(self) -> tuple[McpStatus, ...]:
        return tuple(kept.status(self._limits) for kept in self._kept.values())

    def review(self, name: str) -> Review | None:
        """What the user would agree to now; None when there is nothing."""
        return self._find_server(name).review()

    async def trust(self, review: Review) -> None:
        """Trust what the review shows. A server that has changed meanwhile is not used."""
        kept = self._find_server(review.server)
        self._pins.trust(kept.server, review.pin)
        if kept.may_start:
            kept.connection.start()
            await kept.connection.wait_settled()

    async def distrust(self, name: str) -> None:
        """Remove trust: the server is stopped, and the next update removes its tools."""
        kept = self._find_server(name)
        self._pins.forget(kept.server)
        await kept.connection.close()

    async def restart(self, name: str) -> None:
        """Stop a server and start it again, if it is trusted."""
        kept = self._find_server(name)
        await kept.connection.close()
        if kept.may_start:
            kept.connection.start()
            await kept.connection.wait_settled()

    async def close(self) -> None:
        """Stop every server, with all its processes."""
        await asyncio.gather(*(kept.connection.close() for kept in self._kept.values()))

    async def __aenter__(self) -> McpServers:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _find_server(self, name: str) -> _KeptServer:
        if (kept := self._kept.get(name)) is None:
            known = ", ".join(self._kept) or "none"
            raise UsageError(f"there is no MCP server called {name!r}; known are: {known}")
        return kept


class _KeptServer:
    """A server, its connection and its trust, and the tools made of what it offers."""

    def __init__(self, connection: Connection, pins: Pins) -> None:
        self.connection, self._pins = connection, pins
        self._offer: ServerOffer | None = None
        self._tools: dict[str, Tool] = {}
        self._left_out: tuple[str, ...] = ()

    @property
    def server(self) -> McpServer:
        return self.connection.server

    @property
    def may_start(self) -> bool:
        return not self.server.disabled and self._pins.trusts_launch(self.server)

    @property
    def runs(self) -> bool:
        return self.connection.phase in ("starting", "waiting", "connected")

    @property
    def is_approved(self) -> bool:
        return self._pins.trusts(self.server, self.connection.offer)

    @property
    def state(self) -> State:
        if self.server.disabled:
            return "disabled"
        match self.connection.phase:
            case "connected":
                return "ready" if self.is_approved else "unapproved"
            case "idle" | "closed" if not self.may_start:
                return "untrusted"
            case "idle":
                return "closed"
            case phase:
                return phase

    def tools(self, limits: McpLimits) -> dict[str, Tool]:
        """The tools that may be used now. While a server restarts, they stay as they were."""
        usable = self.runs and self.may_start and self.is_approved
        if not usable:
            return {}
        self._make_tools(limits)
        return self._tools

    def _make_tools(self, limits: McpLimits) -> None:
        """Make tools of the offer, once for each."""
        offer = self.connection.offer
        if offer is None or offer == self._offer:
            return
        self._offer, self._tools = offer, {}
        left_out = [f"{name}: the server lists it more than once" for name in repeated_names(offer.tools)]
        twice = {*repeated_names(offer.tools)}
        for each in offer.tools:
            if each.name in twice:
                continue
            try:
                tool = make_tool(self.server.name, each, self.connection.call, limits.call)
            except (UsageError, RecursionError) as error:
                left_out.append(f"{each.name}: {error}")
            else:
                self._tools[tool.name] = tool
        self._left_out = tuple(left_out)

    def review(self) -> Review | None:
        known = self._pins.of(self.server)
        if not self._pins.trusts_launch(self.server):
            return review_launch(self.server, known)
        if self.connection.phase == "connected" and self.connection.offer and not self.is_approved:
            return review_tools(self.server, self.connection.offer, known)
        return None

    def status(self, limits: McpLimits) -> McpStatus:
        found = McpStatus(self.server.name, self.state, self.server.summary, self.server.source)
        detail = self.connection.detail
        if found.state == "untrusted" and self._pins.of(self.server):
            detail = "how it is started has changed since it was trusted"
        if found.state == "unapproved":
            known = self._pins.of(self.server)
            detail = (
                "what it offers has changed since it was trusted"
                if known and known.offer
                else "not yet trusted"
            )
        return replace(
            found,
            detail=detail,
            tools=tuple(self.tools(limits)),
            left_out=self._left_out,
            errors=self.connection.errors,
        )


def _do_nothing() -> None:
    return None
