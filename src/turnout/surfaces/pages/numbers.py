"""Cost, tokens, cache share, repairs, refusals, failovers and the counters, as tables with bars.

Two sources: the store counts what sessions did, the gateway's memory what clients asked. They are two
tables, since a session of `turnout chat` never passes the gateway.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from ...store import Store
from ...store.ports import Count
from ...telemetry.counts import COUNTERS, TOOK_OVER
from ..shared.conversation_html.rows import provider_colour
from ..shared.usage_counts import CACHED, COST, INPUT, NAMES, OUTPUT, PROMPT, REPLIES
from .request_records import RequestFilter, RequestRecords

DAYS = 30
DAY = 86_400.0
FAILOVERS = "failovers"
SESSION_HEADS = [
    *(NAMES[name] for name in (COST, REPLIES, INPUT, OUTPUT)),
    "cached",
    *(NAMES[name] for name in COUNTERS),
    FAILOVERS,
]
REQUEST_GROUPS = ("day", "provider", "client")


class NumberTable(Struct):
    """A table whose rows have a bar: `share` of the largest, from 0 to 1."""

    title: str
    heads: list[str]
    rows: list[NumberRow]
    totals: list[str]


class NumberRow(Struct):
    """One row: its name, its cells, and how long its bar is."""

    name: str
    cells: list[str]
    share: float
    colour: str = ""


def numbers_values(
    store: Store, records: RequestRecords, query: dict[str, str], now: float
) -> dict[str, Any]:
    """What the page of numbers shows."""
    given = query.get("days", "")
    days = max(1, min(int(given), 3650)) if given.isdecimal() and len(given) < 6 else DAYS
    since = now - (days - 1) * DAY
    counts = store.counters.read(time.strftime("%Y-%m-%d", time.gmtime(since)))
    start = since - since % DAY
    return {
        "days": days,
        "sessions": session_tables(counts),
        "requests": [request_table(records, by, start) for by in REQUEST_GROUPS],
    }


# Sessions


def session_tables(counts: list[Count]) -> list[NumberTable]:
    """What sessions used and did, by day and by provider."""
    if not counts:
        return []
    return [
        _count_table("by day", counts, lambda count: count.day, is_day=True),
        _count_table("by provider", counts, lambda count: count.provider),
        _count_table("by model", counts, lambda count: f"{count.provider}:{count.model}"),
    ]


def _count_table(
    title: str, counts: Iterable[Count], key: Callable[[Count], str], is_day: bool = False
) -> NumberTable:
    sums: dict[str, Counter[str]] = {}
    for count in counts:
        sums.setdefault(key(count), Counter())[_shown_name(count.name)] += count.count
    largest = max((used[COST] for used in sums.values()), default=0) or 1
    names = sorted(sums, reverse=True) if is_day else sorted(sums, key=lambda name: -sums[name][COST])
    rows = [
        NumberRow(
            name,
            _session_cells(sums[name]),
            sums[name][COST] / largest,
            "" if is_day else provider_colour(name.partition(":")[0]),
        )
        for name in names[:100]
    ]
    return NumberTable(title, SESSION_HEADS, rows, _session_cells(sum(sums.values(), Counter())))


def _shown_name(name: str) -> str:
    """A failover has a counter for each reason; the page counts them together."""
    return FAILOVERS if name.startswith(TOOK_OVER) else name


def _session_cells(used: Counter[str]) -> list[str]:
    share = f"{used[CACHED] / used[PROMPT]:.0%}" if used[PROMPT] else ""
    counted = [f"{used[name]:,}" for name in (*COUNTERS, FAILOVERS)]
    tokens = [f"{used[name]:,}" for name in (REPLIES, INPUT, OUTPUT)]
    return [f"${used[COST] / 1_000_000:,.4f}", *tokens, share, *counted]


# Requests


def request_table(records: RequestRecords, by: str, since: float) -> NumberTable:
    """What clients asked of the gateway, by day, provider or client key."""
    groups = records.groups(RequestFilter(since=since), by)
    largest = max((row["cost"] for row in groups), default=0.0) or 1.0
    heads = ["cost", "requests", "tokens", "cached", "repairs", "refused", "failovers"]
    rows = [
        NumberRow(
            str(row["name"] or "(none)"),
            _request_cells(row),
            row["cost"] / largest,
            provider_colour(str(row["name"])) if by == "provider" else "",
        )
        for row in groups
    ]
    names = ("requests", "tokens", "repairs", "errors", "failovers", "cost", "cached_input", "counted_input")
    totals = {name: sum(row[name] or 0 for row in groups) for name in names}
    title = {"day": "by day", "provider": "by provider", "client": "by client key"}[by]
    return NumberTable(title, heads, rows, _request_cells(totals) if groups else [])


def _request_cells(row: dict[str, Any]) -> list[str]:
    counted = row["counted_input"]
    return [
        f"${row['cost']:,.4f}",
        f"{row['requests']:,}",
        f"{row['tokens']:,.0f}",
        f"{row['cached_input'] / counted:.0%}" if counted else "",
        f"{row['repairs']:,.0f}",
        f"{row['errors'] or 0:,}",
        f"{row['failovers'] or 0:,}",
    ]
