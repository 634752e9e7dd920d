"""`turnout stats`: cost, tokens and the tool counters over time, by provider, with bars."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

from ...telemetry.counts import GAVE_WAY, TOOK_OVER
from ..shared.bars import bars
from ..shared.clean_text import printable
from ..shared.usage_counts import COST, HOSTED, HOSTED_COST, INPUT, NAMES, OUTPUT, REPLIES
from .output import json_text, table

if TYPE_CHECKING:
    from ...store.counters import Count


@click.command("stats")
@click.option("--days", type=click.IntRange(1), default=30, show_default=True, help="Number of days to show.")
@click.option("--provider", default="", help="Show only this provider.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def stats_command(days: int, provider: str, as_json: bool) -> None:
    """Show usage: cost and tokens by day and by model, and how tool calls went.

    \b
    tool calls           calls that models made
    with bad arguments   … that did not fit the tool's schema
    repaired             … that were repaired without asking the model again
    requests refused     requests with tools that a provider answered with 400 or 422
    loops stopped        rounds of calls that repeated without progress

    \b
    If a provider ran tools itself, a table says which, how often, and what that cost where a price is
    known; it is a part of the cost above.

    \b
    If a fallback was asked, a table says who answered how often, after what another model took
    over, and why a model gave way: rate_limit, refusal, empty …
    """
    from ...store import open_store

    since = time.strftime("%Y-%m-%d", time.gmtime(time.time() - (days - 1) * 86_400))
    with open_store(os.environ) as store:
        counts = [count for count in store.counters.read(since) if provider in ("", count.provider)]
    if as_json:
        click.echo(json_text(counts))
    elif not counts:
        click.echo(f"Nothing was counted in the last {days} days.")
    else:
        click.echo(printable("\n".join(_stats_lines(counts, shutil.get_terminal_size((100, 24)).columns))))


def _stats_lines(counts: list[Count], width: int) -> Iterator[str]:
    by_day = _sums_by(counts, lambda count: count.day)
    yield "Cost by day"
    yield from bars([(day, used[COST], _dollars(used[COST])) for day, used in sorted(by_day.items())], width)
    yield "\nTokens by day"
    tokens = {day: used[INPUT] + used[OUTPUT] for day, used in by_day.items()}
    yield from bars([(day, number, f"{number:,}") for day, number in sorted(tokens.items())], width)
    by_provider = _sums_by(counts, lambda count: count.provider)
    yield "\nTool calls by provider"
    calls = {name: used["tool_calls_total"] for name, used in by_provider.items()}
    yield from bars([(name, number, f"{number:,}") for name, number in sorted(calls.items())], width)
    yield ""
    yield _models(counts, width)
    yield from _hosted_tools(counts, width)
    yield from _switches(counts, width)


def _models(counts: list[Count], width: int) -> str:
    by_model = _sums_by(counts, lambda count: f"{count.provider}:{count.model}")
    shown = [
        name for name in NAMES if name in (REPLIES, COST) or any(used[name] for used in by_model.values())
    ]
    rows = [
        (model, *(_number(name, used[name]) for name in shown)) for model, used in sorted(by_model.items())
    ]
    return table(("model", *(NAMES[name] for name in shown)), rows, width)


def _hosted_tools(counts: list[Count], width: int) -> Iterator[str]:
    """The tools that providers ran, by model."""
    by_model = _sums_by(counts, lambda count: f"{count.provider}:{count.model}")
    rows = [
        (
            model,
            _reasons(used, HOSTED, without=HOSTED_COST),
            _dollars(used[HOSTED_COST]) if used[HOSTED_COST] else "",
        )
        for model, used in sorted(by_model.items())
    ]
    if rows := [row for row in rows if row[1]]:
        yield "\nTools that the provider ran"
        yield table(("model", "uses", "cost where known"), rows, width)


def _switches(counts: list[Count], width: int) -> Iterator[str]:
    """Who answered how often and why: replies, and for what other models took over or gave way."""
    by_model = _sums_by(counts, lambda count: f"{count.provider}:{count.model}")
    rows = [
        (model, f"{used[REPLIES]:,}", _reasons(used, TOOK_OVER), _reasons(used, GAVE_WAY))
        for model, used in sorted(by_model.items())
    ]
    if any(took or gave for _, _, took, gave in rows):
        yield "\nWho answered, and why"
        yield table(("model", "replies", "took over after", "gave way because of"), rows, width)


def _reasons(used: Counter[str], prefix: str, without: str = "") -> str:
    """As `rate_limit 3, refusal 1`, the most frequent first."""
    named = {name: number for name, number in used.items() if name.startswith(prefix) and name != without}
    found = {name.removeprefix(prefix): number for name, number in named.items() if number}
    ordered = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} {number:,}" for name, number in ordered)


def _sums_by(counts: Iterable[Count], key: Callable[[Count], str]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for count in counts:
        found.setdefault(key(count), Counter())[count.name] += count.count
    return found


def _number(name: str, number: int) -> str:
    return _dollars(number) if name == COST else f"{number:,}"


def _dollars(microdollars: float) -> str:
    return f"${microdollars / 1_000_000:,.4f}"
