"""Which sessions are deleted to make room: by age, by the size of all, by their number.

The subagents of a session are counted and deleted with it. An open session is never deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import SessionHeld, UsageError
from .ports import SessionCatalog, SessionSummary


class Pruning:
    """Prunes the sessions of one store."""

    def __init__(self, catalog: SessionCatalog) -> None:
        self._catalog = catalog

    def prune(
        self, now: float, older_than: float | None, larger_than: int | None, dry_run: bool
    ) -> list[SessionSummary]:
        """Delete old sessions, then the oldest until the rest is small enough; returns what was deleted."""
        chosen = list(self._sessions_to_prune(now, older_than, larger_than))
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
        self, now: float, older_than: float | None, larger_than: int | None
    ) -> Iterator[SessionSummary]:
        sizes, held = self._family_sizes()
        total = sum(sizes.values())
        for summary in reversed(self._catalog.lines(None, subagents=False)):
            old = older_than is not None and now - summary.updated > older_than
            too_much = larger_than is not None and total > larger_than
            if (old or too_much) and summary.id not in held:
                total -= sizes[summary.id]
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
