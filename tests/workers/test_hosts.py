"""Workers on two hosts, one of whose clocks is ten minutes ahead: leases go by the clock of the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.laws.share import SOAK, tell
from tests.store.servers import Server
from tests.workers.crew import Crew
from tests.workers.hosts import Host, need_programs, two_hosts
from tests.workers.test_worker import until

from turnout import workers
from turnout.history.check import violations
from turnout.store import Store

LEASE = 1.5
SLOW = 2 * LEASE
RUNS = 30 if SOAK else 6
CUTS = 10 if SOAK else 1
AHEAD = ("faketime", "-f", "+10m")


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Host]]:
    need_programs("faketime")
    with two_hosts() as made:
        yield made


@pytest.fixture(scope="module")
def reached(hosts: list[Host]) -> Iterator[Server]:
    """A server that both hosts reach."""
    for package, extra in (("psycopg", "postgres"), ("dbos", "dbos")):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'turnout[{extra}]'")
    running = Server(listen=[host.gateway for host in hosts])
    yield running
    running.remove()


@pytest.fixture(scope="module")
def crew(hosts: list[Host], reached: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """A worker on each host; the clock of the second is ten minutes ahead."""
    folder = tmp_path_factory.mktemp("hosts")
    with (
        crew_on(hosts[0], reached, folder) as right,
        crew_on(hosts[1], reached, folder, *AHEAD),
    ):
        yield right


def crew_on(host: Host, server: Server, folder: Path, *before: str) -> Crew:
    """A worker on a host. Only the date is ahead there, as on a host that was set wrong."""
    url = server.url.replace("127.0.0.1", host.gateway)
    more = {"TURNOUT_SLOW": str(SLOW), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return Crew(url, folder, count=1, lease=LEASE, concurrency=4, command=(*host.command, *before), **more)


@pytest.fixture
def store(reached: Server) -> Iterator[Store]:
    with Store.at(reached.url, heartbeat=False) as opened:
        yield opened


def test_two_hosts_share_the_work_whatever_their_clocks_say(store: Store, crew: Crew) -> None:
    """A tool that runs for two leases on a living host is not taken over, and no tool runs twice."""
    ids = [f"both{number}" for number in range(RUNS)]
    results = asyncio.run(asyncio.wait_for(finish_runs(store, ids), 240))
    histories = [store.read(id) for id in ids]
    outcomes = [item.outcome for each in histories for item in each.ledger]
    hosts = {line.worker.rsplit("-", 2)[0] for line in asyncio.run(workers.runs(store))}
    assert {result["status"] for result in results} == {"complete"}
    assert {each.status for each in outcomes if each is not None} == {"complete"}
    assert len(outcomes) == len(crew.done()) == 4 * RUNS and set(crew.done().values()) == {1}
    assert not [fault for each in histories for fault in violations(each)]
    assert len(hosts) == 2, f"one host did all the work: {hosts}"
    assert crew.lines(".refused") == []


async def finish_runs(store: Store, sessions: list[str]) -> list[dict[str, Any]]:
    runs = [await workers.submit(store, "go", session=each, key="p") for each in sessions]
    return [await workers.wait(store, run.id) for run in runs]


@pytest.mark.parametrize("number", range(CUTS))
def test_a_host_that_is_cut_off_is_replaced_and_adds_nothing(
    hosts: list[Host], reached: Server, store: Store, crew: Crew, number: int, record_property: Any
) -> None:
    """Its cable is pulled in the middle of tools: the other host goes on, and the first is refused later."""
    id = f"cut{number}"
    run = asyncio.run(workers.submit(store, "go", session=id, key="p"))
    until(lambda: sum(item.started for item in store.read(id).ledger) == 3, 60)
    holder, before = store.summary(id).holder, len(store.read(id).entries)
    assert holder is not None
    (lost,) = (host for host in hosts if host.name == holder.host)
    lost.pull_cable()
    try:
        began = time.monotonic()
        until(lambda: len(store.read(id).entries) > before, 60)
        took = time.monotonic() - began
        result = asyncio.run(asyncio.wait_for(workers.wait(store, run.id), 120))
        finished = store.read(id).entries
    finally:
        lost.plug_cable()
    until(lambda: has_new_connections(reached, lost), 60)
    time.sleep(1.0)  # what it would still write, it writes now
    assert store.read(id).entries == finished
    assert result["status"] == "complete" and epochs_of(reached.url, id) == [1, 2]
    assert set(crew.done().values()) == {1} and crew.lines(".refused") == []
    which = hosts.index(lost)
    tell(
        record_property,
        f"host with the {('right', 'fast')[which]} clock cut off, picked up after, ms",
        {"took": round(took * 1000)},
    )


def has_new_connections(server: Server, host: Host) -> bool:
    """Whether the host is connected to the server, with connections that it made just now."""
    with psycopg.connect(server.url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE host(client_addr) = %s"
            " AND state_change > now() - interval '2 s'",
            (host.gateway.rpartition(".")[0] + f".{int(host.gateway.rpartition('.')[2]) + 1}",),
        ).fetchone()
    return row is not None and row[0] > 0


def epochs_of(url: str, session: str) -> list[int]:
    """The epochs of the entries of a session, each once, in the order of their places."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT split_part(e.id, '.', 1)::int FROM turnout.entry e JOIN turnout.session s"
            " ON s.number = e.session WHERE s.id = %s ORDER BY e.place",
            (session,),
        ).fetchall()
    return [epoch for at, (epoch,) in enumerate(rows) if not at or rows[at - 1][0] != epoch]
