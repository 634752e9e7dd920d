"""Measures how long sessions are without a worker after each fault. Watches the leases in the database."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from statistics import median
from typing import Any

import psycopg
from msgspec import Struct

from turnout.store.holder import decode_holder

HELD = """
SELECT id, epoch, holder, extract(epoch FROM expires)::float8 FROM turnout.session WHERE holder IS NOT NULL
"""
PAUSE = 0.05


class LostSession(Struct, frozen=True):
    """A session that lost its worker, or whose worker lost the database, at a time."""

    kind: str
    id: str
    epoch: int
    expires: float
    began: float


class PickupWatch:
    """A thread that notes when each lost session has a worker again."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._lost: list[LostSession] = []
        self._took: dict[str, list[float]] = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def note_fault(self, kind: str, pid: int | None = None) -> None:
        """A fault happened just now: to this worker, or to all of them."""
        began, rows = time.monotonic(), self._held_rows()
        lost = [
            LostSession(kind, id, epoch, expires, began)
            for id, (epoch, holder, expires) in rows.items()
            if pid is None or holder == pid
        ]
        with self._lock:
            self._lost += lost

    @property
    def lost_count(self) -> int:
        """How many sessions have no worker yet."""
        return len(self._lost)

    def close(self) -> dict[str, list[float]]:
        """Seconds until a worker had each lost session again, by the kind of fault."""
        self._ends.set()
        self._thread.join(10)
        return self._took

    def _held_rows(self) -> dict[str, tuple[int, int, float]]:
        for _ in range(100):
            with suppress(psycopg.OperationalError), psycopg.connect(self._url, connect_timeout=2) as opened:
                rows: list[Any] = opened.execute(HELD).fetchall()
                return {
                    id: (epoch, decode_holder(holder.encode()).pid, expires)  # type: ignore[union-attr]
                    for id, epoch, holder, expires in rows
                }
            time.sleep(PAUSE)
        raise AssertionError("the server is away")

    def _watch(self) -> None:
        while not self._ends.wait(PAUSE):
            if not self._lost:
                continue
            rows, now = self._held_rows(), time.monotonic()
            with self._lock:
                for lost in tuple(self._lost):
                    epoch, _, expires = rows.get(lost.id, (lost.epoch + 1, 0, 0.0))  # released: it has ended
                    if epoch > lost.epoch or expires > lost.expires:
                        self._lost.remove(lost)
                        self._took.setdefault(lost.kind, []).append(now - lost.began)


def summary_of(took: list[float]) -> dict[str, int]:
    """As figures to be told, in milliseconds."""
    return {
        "sessions": len(took),
        "median": round(median(took) * 1000),
        "longest": round(max(took) * 1000),
    }
