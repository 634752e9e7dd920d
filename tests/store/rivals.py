"""Processes that want the same store at the same time. A program of its own: see `main` at its end."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

from turnout.errors import SessionHeld
from turnout.history.log import History
from turnout.store import Store

LEASE = 0.015


def takeovers(path: str, name: str, count: str) -> dict[str, Any]:
    """Take the session so many times, write, and be away too long before writing again, or let go."""
    chance, taken, refused, written = Random(name), 0, 0, []
    store = Store(path, lease=LEASE, heartbeat=False)
    while taken < int(count):
        try:
            history = store.open("s")
        except SessionHeld:
            time.sleep(chance.uniform(0, LEASE))
            continue
        taken += 1
        try:
            for _ in range(3):
                written.append(history.user(f"{name} {taken}").key)
                time.sleep(chance.choice((0, 0, LEASE * 1.5)))
        except SessionHeld:
            refused += 1
        forget(store, history, chance.random() < 0.3)
    store.close()
    return {"taken": taken, "refused": refused, "written": written}


def forget(store: Store, history: History, politely: bool) -> None:
    """Let go of a session, or leave its lease to expire as a process that hangs would."""
    if politely:
        store.release("s")
    else:
        store._journals.pop("s", None)
        store._number += 1_000  # from now on someone else


def neighbours(path: str, name: str, count: str) -> dict[str, Any]:
    """Write a session of one's own."""
    worst = 0.0
    with Store(path) as store:
        history = store.open(name)
        for number in range(int(count)):
            began = time.monotonic()
            history.user(f"{number} " * 50)
            worst = max(worst, time.monotonic() - began)
    return {"worst": worst}


def hold(path: str, name: str) -> dict[str, Any]:
    """Have a session open until the input ends."""
    with Store(path) as store:
        store.open(name)
        print(json.dumps({"held": True}), flush=True)
        sys.stdin.read()
    return {}


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    Path(rest[0]).parent.mkdir(exist_ok=True)
    said = {"takeovers": takeovers, "neighbours": neighbours, "hold": hold}[kind](*rest)
    print(json.dumps(said), flush=True)
