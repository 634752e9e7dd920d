"""The state that clients cannot carry: in this gateway's file, and for several gateways in PostgreSQL too.

With a store in PostgreSQL, what one gateway remembers every other one recalls: a client may be sent to
another gateway at any request. The file stays the first place, so a database that is away costs the
replies of the other gateways their reasoning, and nothing else: no request waits for it longer than
`PATIENCE`, and after a failure it is not asked for `REST` seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from ...errors import StoreError
from ...store.client_usage import ClientUsage, UsageByDay, day_of
from ...tools.confine.threads import Threads, run_in_thread
from .memory import GatewayMemory

T = TypeVar("T")

PATIENCE = 2.0
REST = 5.0
RESPONSES = "responses"
"""The name below which responses are shared that clients continue by their ids: no conversation has it."""


class SharedTables(Protocol):
    """What all gateways of one database share. Every call may block."""

    @property
    def address(self) -> str: ...

    def remember(self, conversation: str, name: str, state: bytes) -> None: ...

    def recall(self, conversation: str) -> dict[str, bytes]: ...

    def recall_one(self, conversation: str, name: str) -> bytes | None: ...

    def add_usage(self, used: UsageByDay) -> None: ...

    def read_usage(self, periods: Sequence[tuple[str, float]]) -> list[ClientUsage]: ...

    def close(self) -> None: ...


class GatewayState:
    """Remembers and recalls; `shared` is None for a gateway that is alone."""

    def __init__(
        self,
        memory: GatewayMemory,
        shared: SharedTables | None = None,
        *,
        report: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._shared = shared
        self._report = report or (lambda line: None)
        self._clock = clock
        self._threads = Threads(16)  # of our own: a database that hangs must not take those of others
        self._not_before = 0.0
        self._unsent: dict[tuple[str, str], ClientUsage] = {}

    @property
    def is_shared(self) -> bool:
        return self._shared is not None

    # State of replies

    async def remember(self, conversation: str, name: str, state: bytes) -> None:
        """When this returns, the next request finds the state, at whatever gateway."""
        self._memory.remember(conversation, name, state)
        await self._ask_shared(lambda tables: tables.remember(conversation, name, state), None)

    async def recall(self, conversation: str) -> dict[str, bytes]:
        """All states of a conversation by their names."""
        nothing: dict[str, bytes] = {}
        found = await self._ask_shared(lambda tables: tables.recall(conversation), nothing)
        return {**self._memory.recall(conversation), **found}

    # Responses that a client may continue by their ids

    async def keep_response(self, id: str, items: bytes) -> None:
        self._memory.keep_response(id, items)
        await self._ask_shared(lambda tables: tables.remember(RESPONSES, id, items), None)

    async def response(self, id: str) -> bytes | None:
        found = self._memory.response(id)
        if found is not None:
            return found
        return await self._ask_shared(lambda tables: tables.recall_one(RESPONSES, id), None)

    # What clients have used

    def count_use(self, client: str, now: float, tokens: int, cost: float) -> None:
        """Count a request; the other gateways learn of it with the next `share_usage`."""
        if self._shared is not None:
            place = (client, day_of(now))
            self._unsent[place] = self._unsent.get(place, ClientUsage()) + ClientUsage(1, tokens, cost)

    async def share_usage(self, periods: Sequence[tuple[str, float]]) -> list[ClientUsage] | None:
        """Tell what was used here, and learn what was used everywhere since these times, by client.

        None: the database is away, or there is none.
        """
        sent, self._unsent = self._unsent, {}
        nothing: list[ClientUsage] | None = None

        def exchange(tables: SharedTables) -> list[ClientUsage] | None:
            if sent:
                tables.add_usage(sent)
            return tables.read_usage(periods)

        found = await self._ask_shared(exchange, nothing) if sent or periods else nothing
        if found is None:
            for place, used in sent.items():
                self._unsent[place] = self._unsent.get(place, ClientUsage()) + used
            return None
        return [used + self._unsent_of(*period) for used, period in zip(found, periods, strict=True)]

    def _unsent_of(self, client: str, since: float) -> ClientUsage:
        """What was used here while the database was asked."""
        first, total = day_of(since), ClientUsage()
        for (name, day), used in self._unsent.items():
            if name == client and day >= first:
                total += used
        return total

    # The database

    async def _ask_shared(self, work: Callable[[Any], T], otherwise: T) -> T:
        tables = self._shared
        if tables is None or self._clock() < self._not_before:
            return otherwise
        try:
            async with asyncio.timeout(PATIENCE):
                return await run_in_thread(self._threads, lambda: work(tables))
        except (TimeoutError, StoreError) as error:
            self._not_before = self._clock() + REST
            why = str(error) or f"no answer within {PATIENCE:g} s"
            self._report(
                f"turnout: {tables.address} is away ({why}); reasoning that another gateway remembers is not "
                f"replayed meanwhile, try again in {REST:g} s"
            )
            return otherwise

    async def close(self) -> None:
        """Tell what was used and not told yet, then close the connections."""
        if self._shared is not None:
            await self.share_usage(())
            self._shared.close()
