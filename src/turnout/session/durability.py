"""When entries of a session must be in the store, and the draft of the reply under way.

During a run, entries may wait for a commit, which comes before anything leaves the process. A
streamed reply is saved as a draft twice a second, so that a crash costs only its last moments.

Both are written in a thread: while a database takes its time, the other sessions of the loop go on.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Protocol, runtime_checkable

from ..errors import StoreError
from ..history.log import History
from ..model import Entry, ModelTurn
from ..tools.confine.threads import NoThread, ThreadPort, Threads, run_in_thread

WRITERS = Threads()
"""The threads that write to stores, apart from those of tools, which may all be taken."""
DRAFT_EVERY = 0.5
"""Seconds of a streamed reply that a crash may cost."""


@runtime_checkable
class Keeper(Protocol):
    """A history's writer that stores entries durably."""

    patient: bool  # whether entries may wait for `commit`

    def __call__(self, entry: Entry) -> None: ...

    @property
    def unwritten_count(self) -> int: ...

    def commit(self) -> None: ...

    def draft(self, turn: ModelTurn | None) -> None: ...


class Growing(Protocol):
    """A reply under way."""

    @property
    def partial(self) -> ModelTurn: ...


class ReplyDurability:
    """Tells the writer of a history when to commit and what to draft, if the writer is a store."""

    def __init__(self, history: History, threads: ThreadPort | None = None) -> None:
        self._history = history
        self._threads = threads or WRITERS
        writer = history.writer  # None is asked for first: to look for the methods of a Keeper takes 20 µs
        self._keeper = writer if writer is not None and isinstance(writer, Keeper) else None
        self._timer: asyncio.TimerHandle | None = None

    def begin_run(self) -> None:
        """A run begins. From now on `commit` is called before anything leaves the process."""
        if self._keeper is not None:
            self._keeper.patient = True

    def end_run(self) -> None:
        """The run is over. If the commit fails, the next write raises the error."""
        if self._keeper is not None:
            self._keeper.patient = False
            with suppress(StoreError):
                self._history.commit()

    async def commit(self) -> None:
        """Store everything written so far, without blocking the loop; raises `StoreError`."""
        if self._keeper is None:
            self._history.commit()
        elif self._keeper.unwritten_count:
            await run_in_thread(self._threads, self._history.commit)

    def save_draft_soon(self, reply: Growing) -> None:
        """More of a reply has come: save it as a draft within `DRAFT_EVERY` seconds."""
        if self._keeper is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DRAFT_EVERY, self._save_draft, reply)

    def end_reply(self) -> None:
        """The reply is over, whole or not; its draft goes when its turn is written."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _save_draft(self, reply: Growing) -> None:
        self._timer = None
        if self._keeper is not None and (turn := reply.partial).blocks:
            with suppress(NoThread):  # a draft may fail; the next one comes soon
                self._threads.start(partial(_write_draft, self._keeper, turn))


def _write_draft(keeper: Keeper, turn: ModelTurn) -> None:
    with suppress(StoreError):  # a draft may fail; the next commit raises the error
        keeper.draft(turn)
