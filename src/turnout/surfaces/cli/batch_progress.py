"""How far a batch is: a bar on a terminal, nothing in a pipe; failures as lines above it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click

from ...pool.pool import Pool
from ...pool.result import PoolResult


class BatchCounts:
    """What came of the prompts so far."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.answered = 0
        self.earlier = 0
        self.failed = 0

    def add(self, result: PoolResult) -> None:
        self.failed += result.error is not None
        self.earlier += result.earlier
        self.answered += result.error is None and not result.earlier

    @property
    def done(self) -> int:
        return self.answered + self.earlier + self.failed

    @property
    def unanswered_count(self) -> int:
        """Prompts without an answer."""
        return self.total - self.answered - self.earlier

    def summary(self, cost: float) -> str:
        """One line for people: `12 answered, 3 answered before, 1 failed, 4 not asked, $0.0210`."""
        parts = [f"{self.answered} answered"]
        parts += [f"{self.earlier} answered before"] if self.earlier else []
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.total - self.done} not asked"] if self.total > self.done else []
        parts += [f"${cost:.4f}"] if cost else []
        return ", ".join(parts)


class Progress(Protocol):
    """What the batch tells while it runs."""

    def update(self) -> None: ...

    def print_line(self, line: str) -> None: ...


@contextmanager
def progress_of(counts: BatchCounts, pool: Pool) -> Iterator[Progress]:
    """The bar where stderr is a terminal, and lines for failures where it is not."""
    if not sys.stderr.isatty():
        yield PlainProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns: tuple[Any, ...] = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        yield BarProgress(bar, counts, pool)


class PlainProgress:
    """For pipes and logs: failures only."""

    def update(self) -> None:
        return None

    def print_line(self, line: str) -> None:
        click.echo(line, err=True)


class BarProgress:
    """For terminals: a bar with the failures and the money so far."""

    def __init__(self, bar: Any, counts: BatchCounts, pool: Pool) -> None:
        self._bar = bar
        self._counts = counts
        self._pool = pool
        self._task = bar.add_task("", total=counts.total, told="")

    def update(self) -> None:
        told = [f"{self._counts.failed} failed"] if self._counts.failed else []
        told += [f"${self._pool.cost:.4f}"] if self._pool.cost else []
        self._bar.update(self._task, completed=self._counts.done, told=", ".join(told))

    def print_line(self, line: str) -> None:
        self._bar.console.print(line, markup=False, highlight=False)
