"""`turnout batch`: many prompts over many models, into a file that can be resumed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from ...errors import LimitReached, TurnoutError, UsageError
from ...plain import loads
from ...pool.item import PoolItem, item_of
from ...pool.job import target_name
from ...pool.pool import Pool
from ...pool.result import PoolResult, error_kind, result_line
from ...targets.target import Target
from ...world.config import Config
from ...world.request_settings import parse_options
from ...world.world import World
from ..shared.clean_text import json_line, one_line
from ..shared.failure_advice import failure_advice
from ..shared.open_session import SessionArguments, configuration
from ..shared.signals import handling_signals
from . import exit_codes as exits
from .batch_progress import BatchCounts, Progress, progress_of
from .options import Dollars
from .run import schema_of
from .value_completion import complete_models

SHOWN_FAILURES = 20


@click.command("batch")
@click.argument("prompts", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    shell_complete=complete_models,
    help="A model to ask; repeatable. Each prompt is put to each of them.",
)
@click.option(
    "-o",
    "--output",
    "place",
    type=click.Path(dir_okay=False),
    default=None,
    help="File for the answers, one a line. Run again to resume. Without it they go to stdout.",
)
@click.option("--any", "asks_any", is_flag=True, help="Ask one of the models for each prompt, in turn.")
@click.option(
    "--concurrency", type=click.IntRange(1), default=8, show_default=True, help="Prompts under way at once."
)
@click.option(
    "--cost", type=Dollars(0, min_open=True), default=None, help="Stop when so many dollars are spent."
)
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), default=None, help="Requests a minute, of all models."
)
@click.option("--system", default="", help="System prompt.")
@click.option("--json-schema", "shape", default=None, help="JSON Schema of the answers: a file, or JSON.")
@click.option("--option", multiple=True, metavar="NAME=VALUE", help="Option of every request; repeatable.")
@click.option("--base-url", default="", help="Base URL of the models' API.")
@click.option("--profile", default="", help="Use this profile of the configuration.")
@click.pass_context
def batch_command(ctx: click.Context, /, prompts: str, shape: str | None, **wanted: Any) -> None:
    """Put many prompts to one or more models. PROMPTS is a JSONL file; - is stdin.

    Each line is a JSON text, or an object: prompt, and where you like id, system, options, schema, models,
    meta. The answers are written as they come, each with its id and model. Run the same command again
    after an interruption, a limit or a failure: what has an answer is not asked again.

    \b
    Exit codes: 0 all are answered   3 key or configuration
                1 some failed        4 the limit on cost was reached
                2 usage              130 interrupted; run again to resume

    \b
    Examples:
      turnout batch prompts.jsonl -m claude-sonnet-5 -o out.jsonl
      turnout batch prompts.jsonl -m gpt-5.2 -m kimi-k3 -o out.jsonl --cost 5 --rate 300
      jq -c .title books.json | turnout batch - -m gpt-5.2 | jq -r .text
    """
    batch = PromptBatch(list(read_prompts(prompts)), schema_of(shape), **wanted)
    ctx.exit(asyncio.run(batch.run()))


def read_prompts(path: str) -> Iterator[PoolItem]:
    """The prompts of a file. Every line is checked before anything is asked."""
    stream = sys.stdin if path == "-" else None
    try:
        text = stream.buffer.read() if stream is not None else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give a JSONL file, or - for stdin") from None
    ids: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        item = _parse_prompt(line, f"{path}, line {number}")
        if item.id and ids.setdefault(item.id, number) != number:
            raise UsageError(
                f"{path}, line {number}: the id {item.id!r} is that of line {ids[item.id]}; give each its own"
            )
        yield item


def _parse_prompt(line: bytes, place: str) -> PoolItem:
    try:
        value = loads(line)
    except ValueError as error:
        raise UsageError(f'{place} is not JSON ({error}); write "a text" in quotes, or an object') from None
    if not isinstance(value, str | dict) or value == "":
        raise UsageError(f'{place} is not a prompt; write "a text" in quotes, or {{"prompt": "a text"}}')
    try:
        return item_of(value)
    except UsageError as error:
        raise UsageError(f"{place}: {error}; correct the line") from None


class PromptBatch:
    """One batch from its prompts to its exit code."""

    def __init__(
        self,
        items: list[PoolItem],
        schema: dict[str, Any] | None,
        *,
        models: tuple[str, ...],
        place: str | None,
        asks_any: bool,
        concurrency: int,
        cost: float | None,
        rate: float | None,
        system: str,
        option: tuple[str, ...],
        base_url: str,
        profile: str,
    ) -> None:
        config = configuration(SessionArguments(profile=profile))
        targets = [config.target(name, base_url) for name in models or (config.default_model(),)]
        self.items = [_with_targets(item, config, base_url) for item in items]
        self.place = place
        self.pool = Pool(
            targets,
            ask="any" if asks_any else "every",
            concurrency=concurrency,
            cost=cost,
            rate=rate,
            results=place,
            output=schema,
            system=system,
            options=parse_options(option),
            world=World(keys=config.keys(), environment=config.environment, learned=config.learned_steps),
        )
        self.counts = BatchCounts(total=self._count_jobs(len(targets), asks_any))
        self.interrupted = False
        self._failures: list[Exception] = []
        self._advice: dict[str, str | None] = {}  # by target

    def _count_jobs(self, targets: int, asks_any: bool) -> int:
        return sum(1 if asks_any else len(item.targets) or targets for item in self.items)

    async def run(self) -> int:
        task = asyncio.current_task()
        assert task is not None

        def note_interrupt() -> None:
            self.interrupted = True
            task.cancel()

        with handling_signals(note_interrupt, "SIGINT", "SIGTERM", "SIGHUP"), ExitStack() as shown:
            progress = shown.enter_context(progress_of(self.counts, self.pool))
            try:
                await self._take_results(progress)
                code = self._exit_code()
            except LimitReached as error:
                self._failures.append(error)
                code = exits.LIMIT
            except asyncio.CancelledError:
                if not self.interrupted:
                    raise
                code = exits.INTERRUPTED
        self._print_summary(code)
        return code

    async def _take_results(self, progress: Progress) -> None:
        async with aclosing(self.pool.run(self.items)) as results:
            async for result in results:
                self.counts.add(result)
                if result.error is not None:
                    self._tell_failure(result, result.error, progress)
                if self.place is None:
                    click.echo(json_line(self.pool.hide_secrets(result_line(result))))
                progress.update()

    def _tell_failure(self, result: PoolResult, error: Exception, progress: Progress) -> None:
        self._failures.append(error)
        words = f"{result.id} at {result.target}: {error_kind(error)}: {error}"
        if len(self._failures) <= SHOWN_FAILURES:
            progress.print_line(one_line(self.pool.hide_secrets(words)))
        elif len(self._failures) == SHOWN_FAILURES + 1:
            progress.print_line("more failures are not shown here")
        if error_kind(error) == "auth" and result.target not in self._advice:
            self._advice[result.target] = self._advice_for(result.target)

    def _advice_for(self, name: str) -> str | None:
        """What to do about a key that is missing or does not work."""
        places = {target_name(each): each for each in self.pool.targets if isinstance(each, Target)}
        return failure_advice("auth", places[name], os.environ) if name in places else None

    def _exit_code(self) -> int:
        """0, or what the failures have in common: all of them keys and settings, or anything else."""
        codes = {
            exits.code_of(error) if isinstance(error, TurnoutError) else exits.PROVIDER
            for error in self._failures
        }
        if not codes:
            return exits.OK
        return exits.CONFIGURATION if codes == {exits.CONFIGURATION} else exits.PROVIDER

    def _print_summary(self, code: int) -> None:
        again = " Run again to resume." if self.place and self.counts.unanswered_count else ""
        if code == exits.LIMIT:
            click.echo(f"turnout: {self._failures[-1]}", err=True)
        for advice in filter(None, self._advice.values()):
            click.echo(advice, err=True)
        click.echo(f"{self.counts.summary(self.pool.cost)}.{again}", err=True)


def _with_targets(item: PoolItem, config: Config, base_url: str) -> PoolItem:
    """The prompt with the models that it names itself, by the names of the configuration."""
    return replace(item, targets=tuple(config.target(name, base_url) for name in item.targets))
