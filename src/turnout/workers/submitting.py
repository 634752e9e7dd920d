"""What others ask of the workers: submit a prompt, answer a call, list runs, cancel, wait."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from ..errors import UsageError
from ..store import SessionHeader, Store, Tally

if TYPE_CHECKING:
    from .engine import Engine

QUEUE = "turnout"
STATUSES = {"ENQUEUED": "queued", "DELAYED": "scheduled", "PENDING": "running", "CANCELLED": "cancelled"}
LIVE = ("ENQUEUED", "DELAYED", "PENDING")
UNFINISHED = ("queued", "scheduled", "running")
ENGINES: WeakKeyDictionary[Store, Engine] = WeakKeyDictionary()
LOCK = threading.Lock()


class SubmittedRun(Struct, frozen=True):
    """A prompt that a worker will finish: its id, and the session in which it is said."""

    id: str
    session: str


class RunLine(Struct, frozen=True):
    """One line of a list of runs.

    `status`: queued, scheduled, running, complete, waiting, cancelled or failed.
    """

    id: str
    session: str
    status: str
    prompt: str
    created: float
    updated: float
    worker: str = ""
    queue: str = ""
    text: str = ""


async def submit(
    store: Store,
    prompt: str,
    *,
    session: str | None = None,
    key: str | None = None,
    at: datetime | None = None,
    every: str | None = None,
    queue: str = QUEUE,
) -> SubmittedRun:
    """Have a worker say a prompt, now, at a time, or at every time of a cron expression.

    The same `key` a second time is the same run. Without a session there is a new one.
    """
    if not prompt.strip():
        raise UsageError("the prompt is empty; say what the worker should do")
    if at is not None and every is not None:
        raise UsageError("`at` is for one time and `every` for many; give one of them")
    return await asyncio.to_thread(_submit, store, prompt, session, key, at, every, queue)


def _submit(
    store: Store,
    prompt: str,
    session: str | None,
    key: str | None,
    at: datetime | None,
    every: str | None,
    queue: str,
) -> SubmittedRun:
    scope = f"{session}:{key}" if session and key else key or f"r{os.urandom(8).hex()}"
    engine = engine_of(store)
    if every is not None:
        engine.schedule(scope, every, session or "", prompt, queue)
        return SubmittedRun(scope, session or "")
    place = session or f"s{sha256(scope.encode()).hexdigest()[:16]}"
    with suppress(UsageError):  # it is there
        store.log.add(SessionHeader(place), (), Tally())
    delay = (at - datetime.now(UTC if at.tzinfo else None)).total_seconds() if at is not None else 0.0
    engine.enqueue(scope, place, prompt, queue=queue, delay=delay)
    return SubmittedRun(scope, place)


async def answer(
    store: Store, session: str, call_id: str, outcome: Any, *, queue: str = QUEUE
) -> SubmittedRun:
    """Answer a call that waits, and have a worker resume the session."""

    def leave_answer() -> SubmittedRun:
        store.answer(session, call_id, outcome)
        return queue_resumption(engine_of(store), session, call_id, queue)

    return await asyncio.to_thread(leave_answer)


def queue_resumption(engine: Engine, session: str, call_id: str, queue: str) -> SubmittedRun:
    """Have a worker resume a session, once for each answered call."""
    run = SubmittedRun(f"{session}:answer:{call_id}", session)
    engine.enqueue(run.id, session, "", queue=queue)
    return run


async def wait(store: Store, id: str) -> dict[str, Any]:
    """What came of a run, as soon as it has ended: `session`, `status` and `text`. A failure is raised."""
    return await engine_of(store).result(id)


async def runs(store: Store, *, limit: int | None = 100) -> list[RunLine]:
    """The runs, latest first."""

    def list_runs() -> list[RunLine]:
        return [run_line(each) for each in engine_of(store).list_runs(limit)]

    return await asyncio.to_thread(list_runs)


async def cancel(store: Store, id: str) -> list[str]:
    """Cancel a run, or all runs of a session, or a schedule; the ids of what was cancelled."""
    return await asyncio.to_thread(_cancel, store, id)


def _cancel(store: Store, id: str) -> list[str]:
    engine = engine_of(store)
    lines = [run_line(each) for each in engine.list_runs(workflow_ids=[id])]
    if not lines:
        live = [run_line(each) for each in engine.list_runs(status=[*LIVE])]
        lines = [line for line in live if line.session == id]
    found = [line for line in lines if line.status in UNFINISHED]
    for line in found:
        # A worker that runs it is told through the store; what no worker has is taken from the queue.
        if line.status != "running" or not store.cancel(line.session):
            engine.cancel(line.id)
    if found:
        return [line.id for line in found]
    if engine.delete_schedule(id):
        return [id]
    if store.knows(id) and store.cancel(id):
        return [id]
    if lines:
        return []
    raise UsageError(f"there is no run or session {id!r}; `turnout runs` lists them")


def run_line(status: Any) -> RunLine:
    """A run as the engine describes it, as one line of ours."""
    given: Any = (status.input or {}).get("args", ()) if isinstance(status.input, dict) else ()
    session, prompt = (status.attributes or {}).get("session", ""), given[1] if len(given) > 1 else ""
    if isinstance(prompt, dict):  # of a schedule: the time, and what to say
        from .engine import scheduled_run

        session, prompt, _ = scheduled_run(*given)
    output = status.output if isinstance(status.output, dict) else {}
    shown = STATUSES.get(status.status) or output.get("status") or "failed"
    return RunLine(
        status.workflow_id,
        session,
        shown,
        prompt,
        (status.created_at or 0) / 1000,
        (status.updated_at or 0) / 1000,
        status.executor_id or "",
        status.queue_name or "",
        output.get("text", "") or (str(status.error) if status.error else ""),
    )


def engine_of(store: Store) -> Engine:
    """The engine on a store, with connections that stay open until the store is closed.

    To open it takes a hundred times as long as to submit a prompt: it looks whether its tables are there.
    """
    from .engine import Engine  # needs turnout[dbos]

    with LOCK:
        engine = ENGINES.get(store)
        if engine is None:
            engine = ENGINES[store] = Engine(store)
            store.at_close(engine.close)
    return engine
