"""Kill a working session again and again, and judge what each left. A program of its own.

It has one thread, so it can fork: each session starts in milliseconds. It prints one JSON
object a kill: what was wrong, and how far the session had come.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.store.disks import Change, Watched, connecting
from tests.store.judging import judge
from tests.store.working import work

from turnout.store import Store


def at_random(folder: Path, count: int, seed: int) -> None:
    """So many kills at moments drawn between the start and the usual end, which is found out on the way."""
    chance = random.Random(seed)
    began = time.monotonic()
    start(folder / "whole", lambda here: asyncio.run(work(here)))(None)
    usual = time.monotonic() - began
    number = kills = 0
    while kills < count and number < 5 * count:
        here = folder / str(number)
        wait = start(here, lambda here: asyncio.run(work(here)))
        killed = wait(chance.uniform(0, usual))
        report(here, number, killed)
        usual *= 1.02 if killed else 0.9
        number, kills = number + 1, kills + killed


def at_writes(folder: Path, first: int, step: int) -> None:
    """A kill before the n-th change of the store's files, for every `step`-th n until none is left."""
    for number in range(first, 10_000, step):
        here = folder / str(number)
        killed = start(here, lambda here, number=number: asyncio.run(work(here, make=deadly(number))))(None)
        report(here, number, killed)
        if not killed:
            return


def deadly(number: int) -> Callable[[Path], Store]:
    """A store on a disk that kills whoever makes the n-th change."""
    left = number

    def watch(change: Change) -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    vfs = Watched("deadly", watch)
    return lambda path: Store(path, heartbeat=False, connect=connecting(vfs, checkpoint=30))


def start(here: Path, body: Callable[[Path], object]) -> Callable[[float | None], bool]:
    """Run `body` in a process of its own; what is returned waits for its end, killing it after so long."""
    here.mkdir()
    child = os.fork()
    if not child:
        try:
            body(here)
            os._exit(0)
        except BaseException as error:
            print(f"child: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)

    def wait(seconds: float | None) -> bool:
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise SystemExit("a session failed by itself")
        return os.WIFSIGNALED(status)

    return wait


def report(here: Path, number: int, killed: bool) -> None:
    seen = here / "seen"
    events = len(seen.read_bytes().splitlines()) if seen.exists() else 0
    try:
        faults = judge(here)
    except Exception as error:
        faults = [f"could not be judged: {error!r}"]
    print(json.dumps({"number": number, "killed": killed, "seen": events, "faults": faults}), flush=True)
    shutil.rmtree(here)


if __name__ == "__main__":
    kind, where, *numbers = sys.argv[1:]
    {"random": at_random, "writes": at_writes}[kind](Path(where), *map(int, numbers))
