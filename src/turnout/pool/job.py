"""The work of a pool: each prompt with the target that it is for, named so that its answer is found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ..targets.target import Target
from .item import PoolItem, item_of


class Job(Struct, frozen=True):
    """One prompt for one target, or for the first of several that answers."""

    item: PoolItem
    id: str
    key: str
    targets: tuple[str | Target, ...]

    @property
    def target_name(self) -> str:
        """The target; "" where any may answer."""
        return target_name(self.targets[0]) if len(self.targets) == 1 else ""


def target_name(target: str | Target) -> str:
    """A target as results name it: `provider:model`."""
    return str(target.origin) if isinstance(target, Target) else target


class JobMaker:
    """Makes jobs of prompts. `around` is what decides all answers of the pool, besides the prompts."""

    def __init__(self, targets: Sequence[str | Target], *, asks_any: bool, around: dict[str, Any]) -> None:
        self._targets = tuple(targets)
        self._asks_any = asks_any
        self._around = around
        self._ids: Counter[str] = Counter()
        self._turn = 0

    def jobs_of(self, given: Any) -> Iterator[Job]:
        item = item_of(given)
        key = item.key(**self._around)
        id = self._fresh_id(item.id or key)
        targets = item.targets or self._targets
        if self._asks_any and len(targets) > 1:
            at, self._turn = self._turn % len(targets), self._turn + 1  # so that they share the work
            yield Job(item, id, key, (*targets[at:], *targets[:at]))
            return
        yield from (Job(item, id, key, (target,)) for target in targets)

    def _fresh_id(self, id: str) -> str:
        """The same prompt twice is two prompts."""
        self._ids[id] += 1
        return id if self._ids[id] == 1 else f"{id}#{self._ids[id]}"


class JobQueue:
    """The jobs of all prompts, made when they are asked for: prompts may come slowly, or be very many."""

    def __init__(self, prompts: Iterable[Any] | AsyncIterable[Any], maker: JobMaker) -> None:
        self._maker = maker
        self._coming: AsyncIterator[Any] | None = None
        self._ready: Iterator[Job] = iter(())
        if isinstance(prompts, AsyncIterable):
            self._coming = aiter(prompts)
        else:
            self._ready = (job for given in prompts for job in maker.jobs_of(given))

    def take_ready(self) -> Job | None:
        """The next job that is here without waiting."""
        return next(self._ready, None)

    @property
    def is_waiting(self) -> bool:
        """Whether more prompts may come."""
        return self._coming is not None

    async def fetch_prompt(self) -> None:
        """Wait for the next prompt; `take_ready` gives its jobs."""
        assert self._coming is not None
        try:
            self._ready = self._maker.jobs_of(await anext(self._coming))
        except StopAsyncIteration:
            self._coming = None
