"""`[gateway] keep = true`: conversations that come through the gateway are stored as sessions too.

A client sends its whole conversation each time, so only what the store has not is written. A
conversation that the client has edited is another session. Calls that still wait for their results are
written with the next request, when the client has run them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from ...errors import TurnoutError
from ...history.log import History
from ...model import Entry, ModelTurn, Note, Settled, SystemTurn, ToolSpec, UserTurn
from ...store import Store
from ...tools.confine.threads import Threads, run_in_thread

MOST_BRANCHES = 50
"""Sessions of one conversation that was edited again and again."""
PATIENCE = 2.0
"""Seconds that the end of a reply waits for the store. What was not written comes with the next request."""


class KeptConversation(Struct, frozen=True):
    """A conversation as it is now: its history goes on meanwhile."""

    id: str
    system: str
    tools: tuple[ToolSpec, ...]
    entries: list[Entry]


class ConversationKeeper:
    """Writes conversations to the store, which is opened on first use, in one thread of its own."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._store: Store | None = None
        self._threads = Threads(1)

    async def keep(self, history: History, reply: ModelTurn, client: str) -> None:
        """Store what is new of a conversation. A store that fails does not end the reply.

        The session belongs to the key of the client: `prune` counts sessions by it.
        """
        entries: list[Entry] = [each for each in history.entries if not isinstance(each, Note)]
        if not reply.tool_calls:
            entries.append(reply)
        kept = KeptConversation(f"{client}/{history.key}", history.system, history.tools, entries)
        with suppress(TurnoutError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await run_in_thread(self._threads, lambda: self._write_conversation(kept))

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _write_conversation(self, kept: KeptConversation) -> None:
        if self._store is None:
            self._store = self._open_store()
        store = self._store
        for number in range(1, MOST_BRANCHES):
            id = kept.id if number == 1 else f"{kept.id}-{number}"
            if not store.knows(id):
                made = History.replay(kept.entries, id, system=kept.system, tools=kept.tools)
                store.add(made, kind="gateway", title=_title_of(kept.entries))
                return
            if _continues(store.read(id), kept.entries):
                _append_new(store, id, kept.entries)
                return


def _continues(stored: History, entries: list[Entry]) -> bool:
    """Whether the stored turns are the beginning of these: users said the same at the same places."""
    given = {entry.key: entry for entry in entries if isinstance(entry, UserTurn | ModelTurn | SystemTurn)}
    return all(
        turn.key in given and (not isinstance(turn, UserTurn) or given[turn.key].blocks == turn.blocks)
        for turn in stored.turns
    )


def _append_new(store: Store, id: str, entries: list[Entry]) -> None:
    history = store.open(id)
    try:
        for entry in entries:
            if isinstance(entry, Settled):
                known = history.ledger.get(entry.call_id)
                if known is not None and known.outcome is None:
                    history.settle(entry.call_id, entry.outcome)
            elif isinstance(entry, UserTurn | ModelTurn | SystemTurn) and not history.knows_key(entry.key):
                history.append(entry)
        history.commit()
    finally:
        store.release(id)


def _title_of(entries: list[Entry]) -> str:
    """The first words of the user."""
    for entry in entries:
        if isinstance(entry, UserTurn):
            text = " ".join(getattr(block, "text", "") for block in entry.blocks)
            return " ".join(text.split())[:60]
    return ""
