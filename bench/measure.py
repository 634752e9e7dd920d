"""How things are measured: the best of several tries in CPU time, so that a busy machine disturbs little."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from time import process_time


def best(work: Callable[[], object], tries: int = 5, at_least: float = 0.0) -> float:
    """Seconds of CPU for one call: the best of several tries, each long enough to be seen."""
    times = []
    for _ in range(tries):
        gc.collect()
        calls, spent = 0, 0.0
        while spent <= at_least or not calls:
            start = process_time()
            work()
            spent += process_time() - start
            calls += 1
        times.append(spent / calls)
    return min(times)


def alternate(work: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Seconds of CPU for each, the best of several rounds in which all take their turn.

    A busy machine slows all of them alike, so their ratios hold.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, run in work.items():
            gc.collect()
            start = process_time()
            run()
            times[name].append(process_time() - start)
    return {name: min(spent) for name, spent in times.items()}


RUNS = 3
"""A ratio is measured this many times: a sceptic wants to see how much it moves."""


def spread(ratios: Sequence[float]) -> str:
    """The lowest and the highest of the ratios of several runs."""
    low, high = (
        f"{ratio:,.0f}" if min(ratios) >= 10 else f"{ratio:.1f}" for ratio in (min(ratios), max(ratios))
    )
    return low if low == high else f"{low} to {high}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f}" if seconds < 0.01 else f"{seconds * 1e3:.1f}"


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A Markdown table, ready for a README."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
