"""An event loop whose time passes only when everyone waits: a day of silence costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Instead of waiting, the clock moves on."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._really_select = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = self._select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now

    def _select(self, timeout: float | None = None) -> Any:
        events = self._really_select(0)
        if not events and timeout:
            self._now += timeout
        return events


def run(coroutine: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """The result, and how much virtual time it took."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine), runner.get_loop().time()
