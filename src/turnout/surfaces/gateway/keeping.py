"""`[gateway] keep = true`: conversations that come through the gateway are stored as sessions too.

A client sends its whole conversation each time, so only what the store has not is written. A
conversation that the client has edited is another session. Calls that still wait for their results are
written with the next request, when the client has run them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ...errors import TurnoutError
from ...history.log import History
from ...model import Entry, ModelTurn, Note, Settled, SystemTurn, UserTurn
from ...store import Store

MOST_BRANCHES = 50
"""Sessions of one conversation that was edited again and again."""


class ConversationKeeper:
    """Writes conversations to the store, which is opened on first use."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._store: Store | None = None

    def keep(self, history: History, reply: ModelTurn) -> None:
        """Store what is new of a conversation. A store that fails does not end the reply."""
        with suppress(TurnoutError):
            if self._store is None:
                self._store = self._open_store()
            entries: list[Entry] = [each for each in history.entries if not isinstance(each, Note)]
            if not reply.tool_calls:
                entries.append(reply)
            self._write_conversation(self._store, history, entries)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _write_conversation(self, store: Store, history: History, entries: list[Entry]) -> None:
        for number in range(1, MOST_BRANCHES):
            id = history.key if number == 1 else f"{history.key}-{number}"
            if not store.knows(id):
                made = History.replay(entries, id, system=history.system, tools=history.tools)
                store.add(made, kind="gateway", title=_title_of(entries))
                return
            if _continues(store.read(id), entries):
                _append_new(store, id, entries)
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
