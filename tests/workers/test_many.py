"""Many sessions in flight at the same time over three workers: every one ends right."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.laws.share import SOAK, tell
from tests.store.servers import Server
from tests.workers.crew import Crew
from tests.workers.test_worker import until

from turnout import workers
from turnout.history.check import violations
from turnout.store import Store

SESSIONS = 1000 if SOAK else 60
WORKERS = 3


def test_sessions_in_flight_end_right(server: Server, tmp_path: Path, record_property: Any) -> None:
    """All are in the middle of a tool at once, then all go on: nothing twice, nothing lost, none refused."""
    url, gate = server.new_database("many"), tmp_path / "gate"
    concurrency = -(-SESSIONS // WORKERS) + 10
    ids = [f"gate{number}" for number in range(SESSIONS)]
    with Store.at(url, heartbeat=False) as store:
        asyncio.run(submit_all(store, ids))
        began = time.monotonic()
        made = Crew(url, tmp_path, count=WORKERS, concurrency=concurrency, TURNOUT_GATE=str(gate))
        with made as crew:
            until(lambda: len(crew.done()) == SESSIONS, 30 + SESSIONS)
            in_flight = sum(line.holder is not None for line in store.list())
            reached = time.monotonic()
            gate.touch()
            results = asyncio.run(asyncio.wait_for(all_results(store, ids), 60 + SESSIONS))
            ended = time.monotonic()
            done, refused = crew.done(), crew.lines(".refused")
        faults = [fault for id in ids for fault in violations(store.read(id))]
    assert in_flight == SESSIONS
    assert Counter(result["text"] for result in results) == {"Through.": SESSIONS}
    assert len(done) == SESSIONS and set(done.values()) == {1}
    assert not faults and not refused
    tell(
        record_property,
        f"{SESSIONS} sessions in flight over {WORKERS} workers, ms",
        {"all begun": round((reached - began) * 1000), "all ended": round((ended - reached) * 1000)},
    )


async def submit_all(store: Store, ids: list[str]) -> None:
    for id in ids:
        await workers.submit(store, "go", session=id, key="p")


async def all_results(store: Store, ids: list[str]) -> list[dict[str, Any]]:
    return [await workers.wait(store, f"{id}:p") for id in ids]
