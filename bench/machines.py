"""Several machines: a thousand sessions in flight over three workers; how soon an entry is seen elsewhere.

PostgreSQL runs on loopback with `fsync` on. Every session is in the middle of a tool at the same moment,
then all go on. The workers use two cores for everything, the database and the scripted model included.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import aclosing
from pathlib import Path
from statistics import median, quantiles

from tests.store.servers import Server, programs
from tests.workers.crew import Crew

from bench.measure import print_table
from turnout import workers
from turnout.store import Store

SESSIONS = 1000
WORKERS = 3
SEEN = 300
DURABLE = ("max_connections=200", "shared_buffers=64MB")


def run() -> None:
    if programs() is None:
        print("PostgreSQL is not installed: not measured.")
        return
    server = Server(*DURABLE)
    try:
        seen = asyncio.run(seconds_until_seen(server.new_database("seen")))
        print_table(
            ("an entry is seen in another process", "p50 ms", "p95 ms"),
            [(f"{SEEN} entries", f"{median(seen) * 1000:.1f}", f"{quantiles(seen, n=20)[-1] * 1000:.1f}")],
        )
        print_table(
            (f"{SESSIONS} sessions over {WORKERS} workers", "seconds", "a session, ms"),
            many_sessions(server.new_database("many")),
        )
    finally:
        server.remove()


async def seconds_until_seen(url: str) -> list[float]:
    """From the commit of an entry until a watcher with a store of its own has it."""
    with Store.at(url, heartbeat=False) as writer, Store.at(url, heartbeat=False) as reader:
        history = await asyncio.to_thread(writer.open, "s")
        await asyncio.to_thread(history.user, "first")
        times, began = [], 0.0
        async with aclosing(reader.watch("s")) as events:
            async for event in events:
                if event.place > 1:
                    times.append(time.perf_counter() - began)
                if event.place > SEEN:
                    break
                await asyncio.sleep(0.005)
                await asyncio.to_thread(history.user, "next")
                began = time.perf_counter()
        return times


def many_sessions(url: str) -> list[tuple[str, str, str]]:
    """The steps of all sessions, each with its time."""
    steps: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as folder, Store.at(url, heartbeat=False) as store:
        gate, started = Path(folder) / "gate", time.perf_counter()

        def note_step(name: str) -> None:
            nonlocal started
            now = time.perf_counter()
            steps.append((name, now - started))
            started = now

        asyncio.run(_submit_all(store))
        note_step("submitted")
        made = Crew(url, Path(folder), count=WORKERS, concurrency=SESSIONS, TURNOUT_GATE=str(gate))
        with made as crew:
            while len(crew.done()) < SESSIONS:
                time.sleep(0.1)
            note_step("in the middle of a tool, all at once")
            gate.touch()
            ended = asyncio.run(_all_results(store))
            note_step("ended")
            right = sum(result["text"] == "Through." for result in ended)
            twice = sum(count > 1 for count in crew.done().values())
            refused = len(crew.lines(".refused"))
    print(f"{right} of {SESSIONS} ended right; tools twice: {twice}; requests refused: {refused}.\n")
    return [(name, f"{spent:.1f}", f"{spent / SESSIONS * 1000:.1f}") for name, spent in steps]


async def _submit_all(store: Store) -> None:
    for number in range(SESSIONS):
        await workers.submit(store, "go", session=f"gate{number}", key="p")


async def _all_results(store: Store) -> list[dict[str, object]]:
    return [await workers.wait(store, f"gate{number}:p") for number in range(SESSIONS)]
