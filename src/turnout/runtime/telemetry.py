"""What is counted, per provider and model: calls, refusals, repairs, loops that ran out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..model import ModelTurn, Origin

COUNTERS = (
    "tool_calls_total",
    "tool_calls_invalid_args",
    "tool_calls_repaired",
    "tool_api_400_total",
    "tool_loop_max_iterations",
)

Sink = Callable[[str, Origin, int], None]


class Telemetry:
    """The five counters, readable in the process; `sink` is told of every step."""

    def __init__(self, sink: Sink | None = None) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self._sink = sink

    def count(self, name: str, origin: Origin, by: int = 1) -> None:
        if not by:
            return
        self.counts[name, origin.provider, origin.model] += by
        if self._sink is not None:
            self._sink(name, origin, by)

    def replied(self, turn: ModelTurn) -> None:
        self.count("tool_calls_total", turn.origin, len(turn.tool_calls))

    def batch(self, origin: Origin, summary: Any) -> None:
        self.count("tool_calls_invalid_args", origin, summary.invalid)
        self.count("tool_calls_repaired", origin, summary.repaired)

    def refused(self, origin: Origin, status: int | None, tools: Any) -> None:
        """A 400 or 422 to a request with tools or tool history."""
        if status in (400, 422) and tools:
            self.count("tool_api_400_total", origin)

    def ran_out(self, origin: Origin) -> None:
        self.count("tool_loop_max_iterations", origin)

    def read(self, name: str, provider: str = "", model: str = "") -> int:
        """One counter, over all providers and models or some."""
        return sum(
            count
            for (counter, where, which), count in self.counts.items()
            if counter == name and provider in ("", where) and model in ("", which)
        )
