"""Virtual time in which nobody can wait for ever: when nothing is due and nothing can come, it says so."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.simulate.virtual import VirtualLoop

T = TypeVar("T")


class Deadlock(AssertionError):
    """Everyone waits for someone."""


class StrictLoop(VirtualLoop):
    """A virtual loop that fails where a real one would hang."""

    def _select(self, timeout: float | None = None) -> Any:
        events = super()._select(timeout)
        if timeout is None and not events:
            waiting = [task for task in asyncio.all_tasks(self) if not task.done()]
            raise Deadlock(f"{len(waiting)} tasks wait for ever: {waiting}")
        return events


def live(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run it to its end in virtual time."""
    with asyncio.Runner(loop_factory=StrictLoop) as runner:
        return runner.run(coroutine)
