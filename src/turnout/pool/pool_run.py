"""One run of a pool: which prompt is started when, and what came of each.

One loop starts, waits and gives back; each prompt is a task. Nothing that a prompt does can stop the loop,
except a limit of the pool, and a results file that cannot be written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from ..errors import LimitReached, ProviderError
from ..session.typed import AnswerProblem, Shape
from .job import Job, JobQueue, target_name
from .job_costs import JobCosts
from .result import PoolResult, ResultLine, result_line, result_of_answer
from .results_file import ResultsFile

if TYPE_CHECKING:
    from .pool import Pool


class PoolRun:
    """The prompts of one call of `run`."""

    def __init__(self, pool: Pool, jobs: JobQueue, file: ResultsFile | None) -> None:
        self._pool = pool
        self._jobs = jobs
        self._file = file
        self._costs = JobCosts(pool.budget)
        self._answers = KnownAnswers(file.answers if file is not None else [])
        self._refused: dict[str, ProviderError] = {}  # targets whose key does not work
        self._working: set[str] = set()  # targets that have answered
        self._held: Job | None = None  # the next one, which waits for its start
        self._tasks: dict[asyncio.Task[Any], str] = {}  # with the name of the target
        self._fetching: asyncio.Task[None] | None = None
        self._is_stopped = False

    async def results(self) -> AsyncGenerator[PoolResult, None]:
        """Each result as soon as it is there."""
        try:
            while True:
                known = self._start_jobs()
                for result in known:
                    yield result
                has_more = len(known) == KNOWN_AT_ONCE
                if not (under_way := self._under_way()) and not has_more:
                    break
                for result in await self._wait_for_results(under_way, is_waiting=not has_more):
                    yield result
        finally:
            await self._cancel_tasks()
        if self._is_stopped:
            raise LimitReached(
                f"{self._pool.budget.used_up}; the answers so far are kept: raise the limit and run again"
            )

    # Starting

    def _start_jobs(self) -> list[PoolResult]:
        """Start as much as the limits allow; gives the answers that are known already."""
        known: list[PoolResult] = []
        while not self._is_stopped and len(self._tasks) < self._pool.concurrency:
            job = self._held or self._jobs.take_ready()
            self._held = None
            if job is None:
                self._fetch_prompt()
                break
            if (earlier := self._answers.find(job, self._pool.output)) is not None:
                known.append(earlier)
                if len(known) >= KNOWN_AT_ONCE:
                    break
            elif not self._start_job(job):
                break
        return known

    def _start_job(self, job: Job) -> bool:
        """Start it now, or hold it until others have ended; where none are left, the limit is reached."""
        name = job.target_name
        if self._costs.may_start(name):
            self._costs.note_start(name)
            self._tasks[asyncio.ensure_future(self._answer(job))] = name
            return True
        self._held = job
        self._is_stopped = not self._tasks
        return False

    def _fetch_prompt(self) -> None:
        if self._fetching is None and self._jobs.is_waiting:
            self._fetching = asyncio.ensure_future(self._jobs.fetch_prompt())

    def _under_way(self) -> set[asyncio.Task[Any]]:
        return {*self._tasks, *([self._fetching] if self._fetching is not None else [])}

    async def _wait_for_results(self, tasks: set[asyncio.Task[Any]], *, is_waiting: bool) -> list[PoolResult]:
        """What has ended, once something has; without waiting, what has ended already."""
        if not tasks:
            return []
        patience = None if is_waiting else 0
        done, _ = await asyncio.wait(tasks, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        return self._take_finished(done)

    def _take_finished(self, done: set[asyncio.Task[Any]]) -> list[PoolResult]:
        if self._fetching is not None and self._fetching in done:
            self._fetching.result()  # raises what the iterator of the user raised
            self._fetching = None
        ended = [task for task in self._tasks if task in done]
        for task in ended:
            self._costs.note_end(self._tasks.pop(task))
        return [result for task in ended if (result := task.result()) is not None]

    async def _cancel_tasks(self) -> None:
        for task in (left := self._under_way()):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    # One prompt

    async def _answer(self, job: Job) -> PoolResult | None:
        """What came of it; None where a limit of the pool ended it."""
        if (refusal := self._refused.get(job.target_name)) is not None:
            return self._failure(job, refusal)
        try:
            result = await self._ask_session(job)
        except Exception as error:  # whatever it is, the other prompts go on
            if isinstance(error, LimitReached) and self._pool.budget.used_up is not None:
                self._is_stopped = True
                return None
            self._note_refusal(job, error)
            result = self._failure(job, error)
        if self._file is not None:
            await self._file.append(self._pool.hide_secrets(result_line(result)))
        return result

    async def _ask_session(self, job: Job) -> PoolResult:
        item, wanted = job.item, self._pool.output if job.item.output is None else job.item.output
        async with self._pool.session_for(job) as session:
            options: dict[str, Any] = dict(item.options)
            if session.store is not None:
                options["key"] = job.id  # said once, also where this process is killed meanwhile
            answer = await session.ask(item.prompt, output=wanted, **options)
            self._costs.note_cost(job.target_name, answer.cost)
            self._working.add(job.target_name)
            return result_of_answer(job, answer)

    def _note_refusal(self, job: Job, error: Exception) -> None:
        """A key that does not work is not tried with every other prompt too."""
        if isinstance(error, ProviderError) and error.kind == "auth" and job.target_name not in self._working:
            self._refused[job.target_name] = error

    def _failure(self, job: Job, error: Exception) -> PoolResult:
        name = job.target_name or target_name(job.targets[0])
        return PoolResult(
            id=job.id, key=job.key, target=name, prompt=job.item.prompt, error=error, meta=job.item.meta
        )


KNOWN_AT_ONCE = 100
"""Known answers after which those under way are looked at again."""


class KnownAnswers:
    """The answers of earlier runs."""

    def __init__(self, lines: list[ResultLine]) -> None:
        self._by_target = {(line.id, line.key, line.target): line for line in lines}
        self._by_id = {(line.id, line.key): line for line in lines}

    def find(self, job: Job, output: Any) -> PoolResult | None:
        """The answer to this very prompt, as a result; None where it has to be asked."""
        name = job.target_name
        line = self._by_target.get((job.id, job.key, name)) if name else self._by_id.get((job.id, job.key))
        if line is None:
            return None
        shape = Shape.of(output if job.item.output is None else job.item.output)
        try:
            value = shape.read(line.text) if shape is not None else None
        except AnswerProblem:
            return None
        return PoolResult(
            id=line.id,
            key=line.key,
            target=line.target,
            prompt=job.item.prompt,
            text=line.text,
            output=value,
            stop=line.stop,
            usage=line.usage,
            cost=line.cost_usd,
            earlier=True,
            meta=job.item.meta,
        )
