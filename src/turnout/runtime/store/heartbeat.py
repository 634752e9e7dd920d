"""Signs of life for the sessions that this process has open, from a thread of its own.

A tool may run for an hour without a word to the log, and a busy event loop must not look
like a dead one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Heartbeat:
    """Calls `beat` again and again until it is stopped; what it raises is tried again next time."""

    def __init__(self, beat: Callable[[], None], every: float) -> None:
        self._beat = beat
        self._every = every
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="turnout-lease", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _run(self) -> None:
        while not self._over.wait(self._every):
            try:
                self._beat()
            except Exception:  # a full disk today; the next append will say so
                continue
