"""Requests from the gateway's memory: filters, pages, and groups whose totals are the sums of their rows."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec
import pytest
from tests.surfaces.pages.shown import request_record

from turnout.surfaces.gateway.memory import GatewayMemory
from turnout.surfaces.pages.request_records import GROUPS, RequestFilter, RequestRecords


@pytest.fixture
def records(tmp_path: Path) -> RequestRecords:
    memory = GatewayMemory(tmp_path / "gateway.db")
    for number in range(1, 301):
        memory.add_request(request_record(number))
    memory.close()
    return RequestRecords(tmp_path / "gateway.db")


@pytest.mark.parametrize("by", GROUPS)
def test_the_cost_of_a_group_is_the_sum_of_its_requests(records: RequestRecords, by: str) -> None:
    """Whatever it is grouped by, the groups have the rows of the list, each once."""
    rows = records.page(RequestFilter(), 1000)
    groups = records.groups(RequestFilter(), by)
    assert sum(group["requests"] for group in groups) == len(rows) == 300
    assert sum(group["cost"] for group in groups) == pytest.approx(sum(row["cost"] for row in rows))
    if by == "client":
        for group in groups:
            own = [row["cost"] for row in rows if row["client"] == group["name"]]
            assert group["cost"] == pytest.approx(sum(own)) and group["requests"] == len(own)


def test_filters_hold_for_every_row(records: RequestRecords) -> None:
    """Errors, repairs, client, provider and words each leave only rows that fit, and all of those."""
    every = records.page(RequestFilter(), 1000)
    cases = {
        RequestFilter(errors=True): lambda row: row["status"] >= 400,
        RequestFilter(repairs=True): lambda row: row["repairs"] > 0,
        RequestFilter(client="ci"): lambda row: row["client"] == "ci",
        RequestFilter(provider="kimi"): lambda row: row["target"].startswith("kimi:"),
        RequestFilter(words="rate limited"): lambda row: "rate limited" in row["error"],
        RequestFilter(words="100%"): lambda row: False,
    }
    for wanted, fits in cases.items():
        found = {row["id"] for row in records.page(wanted, 1000)}
        assert found == {row["id"] for row in every if fits(row)}, wanted


def test_pages_hold_every_request_once(records: RequestRecords) -> None:
    """Going on from the last row of a page shows each request once, latest first."""
    seen: list[str] = []
    before = None
    while rows := records.page(RequestFilter(), 37, before):
        seen += [row["id"] for row in rows]
        before = rows[-1]["number"]
    assert len(seen) == len(set(seen)) == 300 and seen == sorted(seen, reverse=True)


def test_a_list_walks_an_index(records: RequestRecords, tmp_path: Path) -> None:
    """A filter walks the index in the order of the list; the table is not sorted."""
    connection = apsw.Connection(str(tmp_path / "gateway.db"))
    where, values = RequestFilter(errors=True, words="x").conditions()
    sql = f"SELECT id, cost, error FROM requests INDEXED BY requests_listed WHERE {where} ORDER BY began DESC"
    plan = " ".join(str(row) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values))
    assert "INDEX requests_listed" in plan and "TEMP B-TREE" not in plan


def test_rows_of_an_older_release_are_listed(tmp_path: Path) -> None:
    """A memory that was written before the columns existed has them after it was opened."""
    path = tmp_path / "gateway.db"
    old = apsw.Connection(str(path))
    list(
        old.execute(
            "CREATE TABLE requests (number INTEGER PRIMARY KEY, id TEXT UNIQUE, client TEXT, began REAL,"
            " cost REAL, tokens INTEGER, record BLOB, bodies BLOB)"
        )
    )
    record = request_record(1)
    row = (record["id"], "ci", record["time"], 0.5, 10, msgspec.json.encode(record))
    list(
        old.execute(
            "INSERT INTO requests (id, client, began, cost, tokens, record) VALUES (?,?,?,?,?,?)", row
        )
    )
    old.close()
    (found,) = RequestRecords(path).page(RequestFilter(), 10)
    assert found["target"] == record["target"] and found["status"] == record["status"]


def test_without_a_file_there_are_no_requests(tmp_path: Path) -> None:
    """A machine without a gateway shows an empty list, and no file is made."""
    records = RequestRecords(tmp_path / "none.db")
    assert records.page(RequestFilter(), 5) == [] and records.totals(RequestFilter())["requests"] == 0
    assert not (tmp_path / "none.db").exists()
