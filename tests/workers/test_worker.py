"""Workers that die, hang or lose their database: nothing is done twice, nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from tests.laws.share import ROTATION, SOAK, tell
from tests.store.postgres.test_database import cut_connections
from tests.store.servers import Server
from tests.workers.crew import Crew
from tests.workers.pickups import PickupWatch, summary_of

from turnout import workers
from turnout.history.check import violations
from turnout.model import Started
from turnout.store import Store

FAULTS = 200 if SOAK else 20
ROUNDS = 10 if SOAK else 1
LEASE = 1.5
WORKERS = 3
KINDS = ("kill",) * 8 + ("stop",) * 5 + ("cut",) * 5 + ("restart",) * 2


def test_faults_at_random_cost_nothing(server: Server, tmp_path: Path, record_property: Any) -> None:
    """SIGKILL, SIGSTOP for two leases, cut connections, restarts of PostgreSQL, over three workers.

    No tool takes effect twice, every effect has its intent on record, every run ends, every history is
    valid, and the strict simulator refuses no request.
    """
    url = server.new_database("faults")
    made = Crew(url, tmp_path, count=WORKERS, lease=LEASE, concurrency=4, TURNOUT_SLOW="0.3")
    with made as crew, Store.at(url, heartbeat=False) as store:
        ids = asyncio.run(make_trouble(store, crew, server, url))
        results = asyncio.run(asyncio.wait_for(all_results(store, ids), 120))
        histories = [store.read(id) for id in ids]
    assert {result["status"] for result in results} == {"complete"}
    twice = [call for call, times in crew.done().items() if times > 1]
    started = {entry.call_id for each in histories for entry in each.entries if isinstance(entry, Started)}
    assert not twice, f"tools twice: {twice}"
    assert not set(crew.done()) - started, "an effect without an intent on record"
    assert not [item for each in histories for item in each.ledger if item.outcome is None]
    assert not [fault for each in histories for fault in violations(each)]
    assert crew.lines(".refused") == []
    tell(record_property, "faults over three workers", {"faults": FAULTS, "runs": len(ids)})


async def make_trouble(store: Store, crew: Crew, server: Server, url: str) -> list[str]:
    """Submit runs, and make one fault after the other; the sessions of the runs."""
    chance, ids = Random(7000 + ROTATION), []
    stopped: dict[int, float] = {}
    for number in range(FAULTS):
        run = await workers.submit(store, "go", session=f"s{number}", key="p")
        ids.append(run.session)
        await asyncio.sleep(chance.uniform(0.1, 0.6))
        wake_stopped(stopped)
        kind = KINDS[number % len(KINDS)] if SOAK else chance.choice(KINDS)
        running = [pid for pid in crew.pids if pid not in stopped]
        if kind == "kill":
            victim = chance.choice(crew.pids)
            os.kill(victim, signal.SIGKILL)
            stopped.pop(victim, None)
            crew.pids[crew.pids.index(victim)] = crew.start()
        elif kind == "stop" and len(running) > 1:
            victim = chance.choice(running)
            os.kill(victim, signal.SIGSTOP)
            stopped[victim] = time.monotonic() + 2 * LEASE
        elif kind == "restart":
            how = chance.choice((signal.SIGINT, signal.SIGQUIT))
            await asyncio.to_thread(server.restart, how)
        else:
            await asyncio.to_thread(cut_connections, url)
    while stopped:
        await asyncio.sleep(0.1)
        wake_stopped(stopped)
    return ids


def wake_stopped(stopped: dict[int, float]) -> None:
    """Continue the processes that were stopped for two leases."""
    for pid, until in list(stopped.items()):
        if time.monotonic() >= until:
            os.kill(pid, signal.SIGCONT)
            del stopped[pid]


async def all_results(store: Store, ids: list[str]) -> list[dict[str, Any]]:
    return [await workers.wait(store, f"{id}:p") for id in ids]


def test_after_every_kind_of_fault_a_worker_goes_on_in_time(
    server: Server, tmp_path: Path, record_property: Any
) -> None:
    """In the middle of tools: each session has a worker again within the lease and three seconds.

    The tools of a worker that is gone are told to the model as interrupted, and none takes effect twice.
    """
    url = server.new_database("pickup")
    made = Crew(url, tmp_path, count=WORKERS, lease=LEASE, concurrency=30, TURNOUT_SLOW="60")
    with made as crew, Store.at(url, heartbeat=False) as store:
        watch, usual = PickupWatch(url), []
        for number in range(ROUNDS):
            for kind in ("kill", "stop", "cut", "restart"):
                ids = [f"{kind}{number}-{each}" for each in range(WORKERS)]
                usual.append(begin_runs(store, ids))
                make_fault(kind, ids[0], store, crew, server, url, watch)
                until(lambda: watch.lost_count == 0, 60)
                for id in ids:
                    asyncio.run(workers.cancel(store, id))
        took = watch.close()
        lost = [store.read(f"{kind}0-{each}") for kind in ("kill", "stop") for each in range(WORKERS)]
    outcomes = {item.outcome.reason for each in lost for item in each.ledger if item.outcome is not None}
    assert "stopped" in outcomes and set(crew.done().values()) == {1}
    for kind, seconds in took.items():
        tell(record_property, f"a worker again after {kind}, ms", summary_of(seconds))
    assert set(took) == {"kill", "stop", "cut", "restart"}
    # A machine that is busy with other things begins every run late, and these too.
    allowed = max(LEASE + 3, LEASE + 5 * median(usual))
    assert all(median(seconds) < allowed for seconds in took.values()), (took, usual)


def begin_runs(store: Store, ids: list[str]) -> float:
    """Have sessions in the middle of tools; how many seconds that took."""
    began = time.monotonic()
    for id in ids:
        asyncio.run(workers.submit(store, "go", session=id, key="p"))
    until(lambda: all(sum(item.started for item in store.read(id).ledger) == 3 for id in ids), 60)
    return time.monotonic() - began


def make_fault(
    kind: str, id: str, store: Store, crew: Crew, server: Server, url: str, watch: PickupWatch
) -> None:
    """Make a fault that concerns the worker of a session, or all of them."""
    if kind == "restart":
        server.restart(signal.SIGINT)
        return watch.note_fault(kind)
    if kind == "cut":
        cut_connections(url)
        return watch.note_fault(kind)
    holder = store.summary(id).holder
    assert holder is not None
    os.kill(holder.pid, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    watch.note_fault(kind, holder.pid)
    crew.pids[crew.pids.index(holder.pid)] = crew.start()
    return None


def test_a_cancel_from_another_process_reaches_the_tool(server: Server, tmp_path: Path) -> None:
    """The tool in the worker is told within a second, and the run ends as cancelled."""
    url = server.new_database("cancel")
    with Crew(url, tmp_path, count=1, TURNOUT_SLOW="30") as crew, Store.at(url) as store:
        run = asyncio.run(workers.submit(store, "go", session="s"))
        until(lambda: len(crew.done()) == 3)
        began = time.monotonic()
        assert asyncio.run(workers.cancel(store, "s")) == [run.id]
        until(lambda: crew.lines(".cancelled"))
        assert time.monotonic() - began < 1.0
        assert asyncio.run(workers.wait(store, run.id))["status"] == "cancelled"


def until(condition: Any, seconds: float = 30.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.01)
