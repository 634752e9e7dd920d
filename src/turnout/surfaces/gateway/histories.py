"""Histories of conversations that came before, so that the next request costs only what is new in it.

Bounded in bytes: the least recently used goes first. A history is taken out while a request uses it,
so two requests of one conversation never write to the same one.
"""

from __future__ import annotations

from collections import OrderedDict

from ...history.log import History

WEIGHT = 6
"""Bytes of memory for each byte of the body that a history was read from (measured)."""
PER_CONVERSATION = 4
"""Histories of one conversation: a client's subagents share its id, and a title is asked for beside it."""
BASE = 8_000


class HistoryCache:
    """Histories by conversation."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[str, list[tuple[History, int]]] = OrderedDict()
        self.size = 0
        self.hits = self.misses = 0

    def take(self, key: str) -> list[History]:
        """The histories of a conversation, the longest first; they are the caller's now."""
        held = self._held.pop(key, [])
        self.size -= sum(size for _, size in held)
        return [history for history, _ in sorted(held, key=lambda row: row[1], reverse=True)]

    def give_back(self, key: str, history: History, size: int) -> None:
        """Keep a history for the next request of its conversation."""
        weight = BASE + size * WEIGHT
        if weight > self._limit:
            return
        held = self._held.setdefault(key, [])
        held.append((history, weight))
        self.size += weight
        while len(held) > PER_CONVERSATION:
            self.size -= held.pop(0)[1]
        self._held.move_to_end(key)
        while self.size > self._limit and self._held:
            _, dropped = self._held.popitem(last=False)
            self.size -= sum(size for _, size in dropped)

    def __len__(self) -> int:
        return sum(len(held) for held in self._held.values())
