"""Workers that start in milliseconds. A program: it has one thread and everything imported, so it can fork.

    python -m tests.workers.nursery URL LEASE CONCURRENCY

Each line of its input starts one worker; it answers with the pid. When its input ends, it kills them all.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import time
import traceback
from contextlib import suppress

from tests.workers.app import session_for

from turnout.store import Store
from turnout.workers.worker import Worker


def start_worker(url: str, lease: str, concurrency: str) -> int:
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        store = Store.at(url, lease=float(lease))
        worker = Worker(store, session_for, concurrency=int(concurrency))
        asyncio.run(worker.serve(asyncio.Event()))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def sleep_by_select(seconds: float) -> None:
    select.select([], [], [], max(seconds, 0.0))


def main(*given: str) -> None:
    if os.environ.get("FAKETIME"):
        # libfaketime leaves the monotonic clock alone as we ask, and shifts sleeps until a time on it
        # nevertheless: they fail as invalid, and `time.sleep` is one of them.
        time.sleep = sleep_by_select
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are not kept
    started = []
    for _ in sys.stdin:
        started.append(start_worker(*given))
        print(started[-1], flush=True)
    for pid in started:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
