"""Renews the leases of the open sessions of this process, in a separate thread.

A tool may run for an hour without an entry in the log, and a process with a busy event loop must
not look dead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Heartbeat:
    """Calls `beat` at intervals until it is stopped. Errors are ignored; the next call tries again."""

    def __init__(self, beat: Callable[[], None], every: float) -> None:
        self._beat = beat
        self._every = every
        self._over: threading.Event | None = None

    def start(self) -> None:
        if self._over is None:
            self._over = threading.Event()
            threading.Thread(
                target=self._beat_until_stopped, args=[self._over], name="turnout-lease", daemon=True
            ).start()

    def stop(self) -> None:
        """Stop. A beat that runs now still ends."""
        if self._over is not None:
            self._over.set()
            self._over = None

    def _beat_until_stopped(self, over: threading.Event) -> None:
        while not over.wait(self._every):
            with suppress(Exception):  # for example a full disk; the next append reports it
                self._beat()
