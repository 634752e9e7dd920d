"""A whole conversation: 50 turns with five parallel calls each, streamed from an instant model.

Every library talks in a process of its own with a model in another; what counts is the CPU
time of the talking process, in several rounds in which all take their turn. Times are the best
of the rounds; ratios are taken within each round and given as the lowest and the highest. The bare
loop is what the simplest program for this very conversation does, on the HTTP client that
turnout uses: it checks, keeps and retries nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench.measure import RUNS, milliseconds, print_table, spread
from bench.session_loops import LOOPS
from bench.session_server import CALLS, EVENTS, model

TURNS = 50
LONG = 1_000
BLOCK = 100
BY_HAND = "openai SDK loop"
AGENTS = ("pydantic-ai", "openai-agents", "langchain", "litellm")


def run() -> None:
    with model() as address:
        print(f"### {TURNS} turns of {CALLS} parallel calls, {EVENTS} events a turn\n")
        _beside_the_peers(address)
        print(f"\n### {LONG:,} turns\n")
        _as_it_grows(address)


def _beside_the_peers(address: str) -> None:
    times: dict[str, list[float]] = {}
    missing: dict[str, str] = {}
    for _ in range(RUNS):
        for name in LOOPS:
            if name in missing:
                continue
            found = measured(name, address, TURNS, TURNS)
            if isinstance(found, str):
                missing[name] = found
            else:
                times.setdefault(name, []).append(found["times"][0])
    times = {name: spent for name, spent in times.items() if name not in missing}
    rows: list[tuple[Any, ...]] = [
        (
            name,
            milliseconds(min(spent)),
            *(_ratios(spent, times[other]) for other in ("bare loop", "turnout")),
        )
        for name, spent in sorted(times.items(), key=lambda item: min(item[1]))
    ]
    rows += [(name, f"not measured: {why[-100:]}", "", "") for name, why in missing.items()]
    print_table(("who", "ms of CPU a turn", "to the bare loop", "to turnout"), rows)
    for what, names in (("agent library", AGENTS), ("way of all", (*AGENTS, BY_HAND))):
        if known := [name for name in names if name in times]:
            fastest = min(known, key=lambda name: min(times[name]))
            factors = _ratios(times[fastest], times["turnout"])
            print(f"\nThe fastest {what}, {fastest}, takes {factors} times as long at {TURNS} turns.")
    print(f"\nturnout takes {_ratios(times['turnout'], times['bare loop'])} times the bare loop.")


def _ratios(spent: list[float], reference: list[float]) -> str:
    return spread([mine / other for mine, other in zip(spent, reference, strict=True)])


def _as_it_grows(address: str) -> None:
    rows = []
    for name in ("bare loop", "turnout", "turnout, durable"):
        found = measured(name, address, LONG, BLOCK)
        if isinstance(found, str):
            rows.append((name, f"not measured: {found[-100:]}", "", "", ""))
            continue
        first, last = found["times"][0], found["times"][-1]
        grown = (found["sizes"][-1] - found["sizes"][0]) / (LONG - BLOCK)
        rows.append(
            (name, milliseconds(first), milliseconds(last), f"{last / first:.2f}", f"{grown / 1024:.1f}")
        )
    print_table(
        (
            "who",
            f"first {BLOCK}, ms of CPU a turn",
            f"last {BLOCK}",
            "ratio",
            "memory a turn, KB",
        ),
        rows,
    )


def measured(name: str, address: str, turns: int, block: int) -> dict[str, Any] | str:
    """What one library took in a process of its own, or why it could not be measured."""
    command = [sys.executable, "-m", "bench.session_loops", name, address, str(turns), str(block)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if not ended.stdout.strip():
        return ended.stderr.strip().rpartition("\n")[2] or f"exit code {ended.returncode}"
    found: dict[str, Any] = json.loads(ended.stdout.strip().rpartition("\n")[2])  # however it ended then
    return found
