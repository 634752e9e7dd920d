"""Numbers: tables whose totals are the sums of their rows, with bars that fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.pages.shown import request_record, shown

from turnout import History, ModelTurn, Origin, Usage
from turnout.surfaces.pages.numbers import request_table, session_tables
from turnout.surfaces.pages.request_records import RequestRecords
from turnout.surfaces.shared.usage_counts import count_use


def number(cell: str) -> float:
    return float(cell.replace("$", "").replace(",", "").replace("%", "") or 0)


def test_totals_are_the_sums_of_the_rows(tmp_path: Path) -> None:
    """By day, provider and client key, for sessions and for requests."""
    with shown(tmp_path) as made:
        for at, name in enumerate(("replies", "tokens_input", "tool_calls_total", "cost_microdollars")):
            made.store.counters(name, Origin("openai", "", "m"), 10 + at)
            made.store.counters(name, Origin("kimi", "", "k"), 20 + at)
        made.add_requests(20)
        tables = session_tables(made.store.counters.read())
        tables += [
            request_table(RequestRecords(tmp_path / "gateway.db"), by, 0.0)
            for by in ("day", "provider", "client")
        ]
        for table in tables:
            for at, head in enumerate(table.heads):
                if head != "cached":
                    total = sum(number(row.cells[at]) for row in table.rows)
                    assert total == pytest.approx(number(table.totals[at]), abs=0.001), (table.title, head)
            assert max(row.share for row in table.rows) == 1.0


def test_sessions_have_their_cache_share_and_failovers(tmp_path: Path) -> None:
    """What came from a cache is a share of all that was read, also where an API counts it apart."""
    with shown(tmp_path) as made:
        usage = Usage(input=100, output=10, cached_input=300)
        count_use(made.store, [sample_turn("anthropic:claude-sonnet-4-5", usage)])
        count_use(made.store, [sample_turn("openai:gpt-5.1", Usage(input=400))])
        made.store.counters("took_over_rate_limit", Origin("openai", "", "gpt-5.1"), 2)
        made.store.counters("took_over_overloaded", Origin("openai", "", "gpt-5.1"), 1)
        (table,) = [
            each for each in session_tables(made.store.counters.read()) if each.title == "by provider"
        ]
        cached, failovers = table.heads.index("cached"), table.heads.index("failovers")
        shares = {row.name: (row.cells[cached], row.cells[failovers]) for row in table.rows}
        assert shares == {"anthropic": ("75%", "0"), "openai": ("0%", "3")}
        assert table.totals[cached] == "38%"


def sample_turn(target: str, usage: Usage) -> ModelTurn:
    history = History("h")
    history.user("x")
    return history.reply(target, "y", usage=usage)


def test_the_page_shows_bars(tmp_path: Path) -> None:
    """Each row has a bar that the server drew."""
    with shown(tmp_path) as made:
        made.memory.add_request(request_record(1, time=__import__("time").time()))
        made.memory.flush()
        page = made.text("/numbers")
        assert page.count("<svg") == 3 and 'width="100.0"' in page
