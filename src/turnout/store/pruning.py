"""Which sessions are deleted to make room: by age, by the size of all, by their number.

The subagents of a session are counted and deleted with it. An open session is never deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..errors import SessionHeld, UsageError
from .ports import SessionCatalog, SessionSummary


def client_of(session: str) -> str:
    """The client that a session belongs to: what stands before the first `/` of its id; "" for our own."""
    return session.partition("/")[0] if "/" in session else ""


class Pruning:
    """Prunes the sessions of one store."""

    def __init__(self, catalog: SessionCatalog) -> None:
        self._catalog = catalog

    def prune(
        self,
        now: float,
        older_than: float | None,
        larger_than: int | None,
        keep: int | None,
        dry_run: bool,
    ) -> list[SessionSummary]:
        """Delete old sessions, and the oldest until the rest is few and small enough; what was deleted."""
        chosen = list(self._sessions_to_prune(now, older_than, larger_than, keep))
        if dry_run:
            return chosen
        gone = []
        for summary in chosen:
            try:
                self._catalog.delete(summary.id)
            except (SessionHeld, UsageError):  # it was opened or deleted meanwhile
                continue
            gone.append(summary)
        self._catalog.vacuum()
        return gone

    def _sessions_to_prune(
        self, now: float, older_than: float | None, larger_than: int | None, keep: int | None
    ) -> Iterator[SessionSummary]:
        sizes, held = self._family_sizes()
        total, lines = sum(sizes.values()), self._catalog.lines(None, subagents=False)
        counts = Counter(client_of(line.id) for line in lines)
        for summary in reversed(lines):
            old = older_than is not None and now - summary.updated > older_than
            too_much = larger_than is not None and total > larger_than
            too_many = keep is not None and counts[client_of(summary.id)] > keep
            if (old or too_much or too_many) and summary.id not in held:
                total -= sizes[summary.id]
                counts[client_of(summary.id)] -= 1
                yield summary

    def _family_sizes(self) -> tuple[dict[str, int], set[str]]:
        """The size of each session with its subagents, and the ids of those that are open in part."""
        lines = {line.id: line for line in self._catalog.lines(None, subagents=True)}
        sizes: dict[str, int] = {}
        held: set[str] = set()
        for line in lines.values():
            root = line
            while root.parent in lines:
                root = lines[root.parent]
            sizes[root.id] = sizes.get(root.id, 0) + line.size
            if line.holder is not None:
                held.add(root.id)
        return sizes, held
