"""Signs of life for the sessions that this process has open, from a thread of its own.

A tool may run for an hour without a word to the log, and a busy event loop must not look
like a dead one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Heartbeat:
    """Calls `beat` again and again until it is stopped; what it raises is tried again next time."""

    def __init__(self, beat: Callable[[], None], every: float) -> None:
        self._beat = beat
        self._every = every
        self._over: threading.Event | None = None

    def start(self) -> None:
        if self._over is None:
            self._over = threading.Event()
            threading.Thread(target=self._run, args=[self._over], name="turnout-lease", daemon=True).start()

    def stop(self) -> None:
        """No further beat begins."""
        if self._over is not None:
            self._over.set()
            self._over = None

    def _run(self, over: threading.Event) -> None:
        while not over.wait(self._every):
            with suppress(Exception):  # a full disk today; the next append will say so
                self._beat()
