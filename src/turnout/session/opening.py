"""Open the stored history of a session.

A file is opened at once, when the session is made. A database on a server may take its time, and with it
the event loop: there the session is opened in a thread, when it is entered or first asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from ..history.log import History
from ..tools.confine.threads import ThreadPort, run_in_thread

if TYPE_CHECKING:
    from ..store import Store


class OpenedHistory(Struct, frozen=True):
    """A history that this session writes, and how many subagents it has had."""

    history: History
    subagents: int = 0


class HistoryOpening:
    """Opens one session of a store, once, however many wait for it."""

    def __init__(
        self,
        store: Store,
        id: str,
        *,
        system: str,
        retry_safe: Collection[str],
        counts_subagents: bool,
        closes_store: bool,
    ) -> None:
        self._store = store
        self._id = id
        self._system = system
        self._retry_safe = retry_safe
        self._counts_subagents = counts_subagents
        self._closes_store = closes_store
        self._task: asyncio.Task[OpenedHistory] | None = None

    @property
    def may_block(self) -> bool:
        """Whether the store is reached over a network."""
        return self._store.backend.kind == "postgresql"

    def open_history(self) -> OpenedHistory:
        """Open it now; a store that only this session has is closed again where that fails."""
        try:
            history = self._store.open(self._id, system=self._system, retry_safe=self._retry_safe)
            counted = len(self._store.list(within=self._id)) if self._counts_subagents else 0
        except BaseException:
            if self._closes_store:
                self._store.close()
            raise
        return OpenedHistory(history, counted)

    async def open_off_loop(self, threads: ThreadPort) -> OpenedHistory:
        """Open it in a thread. To be cancelled here does not end the thread, so `wait_until_over` exists."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.ensure_future(run_in_thread(threads, self.open_history))
        return await asyncio.shield(self._task)

    async def wait_until_over(self) -> None:
        """Until nothing is being opened: what was opened must be released."""
        if self._task is not None:
            await asyncio.wait({self._task})
            if not self._task.cancelled():
                self._task.exception()  # those who asked for it were told
