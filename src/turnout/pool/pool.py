"""A pool: many prompts over many targets, within limits that all of its sessions share.

    pool = Pool(["anthropic:claude-sonnet-5", "openai:gpt-5.2"], cost=5.00, rate=120, results="out.jsonl")
    async for result in pool.run(prompts):
        print(result.id, result.target, result.text)

One prompt that fails does not stop the others. With a results file, a pool that runs again asks only for
what has no answer yet.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from ..errors import UsageError
from ..model import Origin
from ..providers.cost import check_countable
from ..session.budget import SharedBudget
from ..session.limits import Limits
from ..session.retry import RetryPolicy
from ..session.routing import Breaker
from ..session.session import Session
from ..session.typed import Shape
from ..targets.target import Target
from ..world.keys import Keys
from ..world.secrets import Secrets
from ..world.shared_http import SharedHttp
from ..world.world import World
from .job import Job, JobMaker, JobQueue, target_name
from .pool_run import PoolRun
from .pooled_transport import PooledTransport
from .rate import RateLimits, Rates
from .result import PoolResult
from .results_file import ResultsFile

Ask = Literal["every", "any"]
PATIENCE = RetryPolicy(attempts=10, wait=900.0, cap=60.0)
"""A batch can wait for a server that is rate limited, where a person would not."""


class Pool:
    """Limits that many sessions share, and a way to put many prompts to many targets.

    `ask` is "every": each prompt is put to each target; or "any": to one of them in turn, and to another
    where it fails. `concurrency` is how many prompts are under way at once. `cost` (US dollars) and `tokens`
    bound what all sessions together use; `rate` is requests a minute, of all, or by provider or target.
    `results` is a file that keeps each answer, so that the pool can be run again. `output` is the type of
    every answer. `settings` are those of every `Session`: tools, system, options, approval, hooks, store, …
    """

    def __init__(
        self,
        targets: str | Target | Sequence[str | Target],
        *,
        ask: Ask = "every",
        concurrency: int = 8,
        cost: float | None = None,
        tokens: int | None = None,
        rate: Rates = None,
        results: str | os.PathLike[str] | None = None,
        output: Any = None,
        limits: Limits | None = None,
        world: World | None = None,
        **settings: Any,
    ) -> None:
        self.targets: list[str | Target] = [targets] if isinstance(targets, str | Target) else list(targets)
        self.ask: Ask = ask
        self.concurrency = concurrency
        self._settings = settings
        self._check_values()
        self.output = output
        self.results = results
        self.budget = SharedBudget(cost=cost, tokens=tokens)
        self._world = world or World()
        paced = PooledTransport(self._world.transport or SharedHttp(), RateLimits(rate), concurrency)
        self._world = replace(self._world, transport=paced)
        self._limits = replace(limits or Limits(retries=PATIENCE), budget=self.budget)
        self._breakers: dict[Origin, Breaker] = {}
        self._keys: dict[str, Keys] = {}
        self._has_counted_file = False
        self._around = self._what_decides_answers()
        self._try_settings(cost)

    def _check_values(self) -> None:
        if not self.targets:
            raise UsageError("a pool needs a target; give one such as 'anthropic:claude-sonnet-5'")
        if self.ask not in get_args(Ask):
            raise UsageError(f"ask={self.ask!r} is not one of {', '.join(get_args(Ask))}")
        if self.concurrency < 1:
            raise UsageError(f"concurrency={self.concurrency} asks nothing; give at least 1")
        if own := [name for name in ("id", "history", "fallback", "route") if name in self._settings]:
            raise UsageError(f"{own[0]}= is for one session; leave it out, or use pool.session({own[0]}=…)")

    def _what_decides_answers(self) -> dict[str, Any]:
        """What decides all answers, besides the prompts: where it changes, they are asked again."""
        shape = Shape.of(self.output)
        options = msgspec.to_builtins({**(self._settings.get("options") or {})}, enc_hook=str)
        system = self._settings.get("system") or ""
        return {"system": system, "options": options, "schema": shape.schema if shape is not None else None}

    def _try_settings(self, cost: float | None) -> None:
        """Make a session for each target, so that a mistake is found before anything is asked."""
        origins = []
        for target in self.targets:
            session = Session(target, world=self._world, **{**self._settings, "store": None})
            self._keys[target_name(target)] = session.keys
            origins.append(session.target.origin)
        self._environment = session.environment
        check_countable(cost, origins)

    @property
    def cost(self) -> float:
        """US dollars that all sessions together have spent, with those of the results file."""
        return self.budget.cost_used

    async def run(self, prompts: Iterable[Any] | AsyncIterable[Any]) -> AsyncGenerator[PoolResult, None]:
        """Ask; get each result as soon as it is there, in whatever order they come.

        A prompt is a text, content, a `PoolItem`, or a mapping with its fields. Answers of the results file
        are given too, marked `earlier`. To leave the loop is to cancel what is under way. Raises
        `LimitReached` at the end where a limit left prompts without an answer.
        """
        file = ResultsFile(self.results) if self.results is not None else None
        jobs = JobQueue(prompts, JobMaker(self.targets, asks_any=self.ask == "any", around=self._around))
        try:
            if file is not None:
                file.open()
                self._count_earlier(file)
            async with aclosing(PoolRun(self, jobs, file).results()) as found:
                async for result in found:
                    yield result
        finally:
            if file is not None:
                file.close()

    def _count_earlier(self, file: ResultsFile) -> None:
        """Count what earlier processes spent; what this one has written is counted already."""
        if not self._has_counted_file:
            self._has_counted_file = True
            self.budget.add_cost(sum(line.cost_usd or 0.0 for line in file.answers))

    def session(self, target: str | Target | None = None, **settings: Any) -> Session:
        """A session of your own within the limits of this pool."""
        wanted = {"limits": self._limits, **self._settings, **settings}
        if "limits" in settings:
            wanted["limits"] = replace(settings["limits"], budget=self.budget)
        place = target or self.targets[0]
        session = Session(place, world=self._world, **wanted)
        session.router.breakers = self._breakers  # a server that is rate limited is so for all of them
        if (keys := self._keys.get(target_name(place))) is not None:
            session.keys = keys  # read once: a command that prints a key may be slow
        return session

    def session_for(self, job: Job) -> Session:
        """The session in which a prompt of this pool is asked."""
        first, *others = job.targets
        settings: dict[str, Any] = {"fallback": others, "route": "failover"} if others else {}
        if job.item.system is not None:
            settings["system"] = job.item.system
        if self._settings.get("store") is not None:  # the same session again after a kill
            name = hashlib.sha256(f"{job.id}|{job.target_name}".encode()).hexdigest()[:8]
            settings["id"] = f"pool-{job.key}-{name}"
        return self.session(first, **settings)

    def hide_secrets(self, text: str) -> str:
        """The text without the keys of this pool's targets and of the environment."""
        known = [key for each in self._keys.values() for key in each.secrets()]
        return Secrets(self._environment, lambda: known).hide_known(text)
