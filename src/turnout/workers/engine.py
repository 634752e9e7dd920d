"""DBOS Transact behind a few functions: the only file that knows it.

What it gives: queues, delays, schedules, workflow ids that make a submission happen once, and a list of
runs. What it does not: notice on another host that a worker died, or stop running code. So `worker` looks
for runs whose session has no valid lease and resumes them here, and cancelling goes through the store.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from typing import Any

from ..errors import StoreError, TurnoutError, UsageError
from ..store import Store

try:
    from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, EnqueueOptions
    from dbos._error import DBOSException
except ModuleNotFoundError as error:
    raise UsageError("workers need dbos, which is not installed: pip install 'turnout[dbos]'") from error

QUEUE = "turnout"
PROMPT = "turnout.finish_prompt"
SCHEDULED = "turnout.finish_scheduled_prompt"
VERSION = "turnout-1"
"""The engine gives a run only to workers of the same version: all of ours can finish all runs."""
POLL = 0.1

Work = Callable[[str, str, str], Awaitable[dict[str, Any]]]
"""Finishes a prompt: given the session, the prompt and its key."""


def database_of(store: Store) -> str:
    """Where the engine keeps its tables: in the store's PostgreSQL, or in a file beside the SQLite file."""
    url = getattr(store.backend, "url", "")
    return url.replace("postgres://", "postgresql://", 1) if url else f"sqlite:///{store.path}.runs"


class Engine:
    """What submitters, watchers and workers ask of the engine."""

    def __init__(self, store: Store) -> None:
        self._url = database_of(store)
        self._client: DBOSClient | None = None
        self._lock = threading.Lock()

    @property
    def client(self) -> DBOSClient:
        with self._lock:
            return self._client or self._open_client()

    def _open_client(self) -> DBOSClient:
        with as_turnout_errors():
            logging.getLogger("dbos").setLevel(logging.ERROR)
            DBOS.migrate(self._url)  # nothing where the tables are there
            serializer = DBOSPortableJSONSerializer()
            self._client = DBOSClient(
                system_database_url=self._url, serializer=serializer, application_name="turnout"
            )
            return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.destroy()
            self._client = None

    def enqueue(self, id: str, session: str, prompt: str, *, queue: str = QUEUE, delay: float = 0.0) -> None:
        """Queue a prompt; an id that is known changes nothing."""
        options: EnqueueOptions = {"workflow_name": PROMPT, "queue_name": queue, "workflow_id": id}
        options["app_version"] = VERSION
        options["attributes"] = {"session": session}
        if delay > 0:
            options["delay_seconds"] = delay
        with as_turnout_errors():
            self.client.enqueue(options, session, prompt, id)

    def schedule(self, name: str, cron: str, session: str, prompt: str, queue: str = QUEUE) -> None:
        """Say a prompt at the times of a cron expression; a schedule of the same name is replaced."""
        with as_turnout_errors():
            if self.client.get_schedule(name) is not None:
                self.client.delete_schedule(name)
            context = {"name": name, "session": session, "prompt": prompt}
            self.client.create_schedule(
                schedule_name=name, workflow_name=SCHEDULED, schedule=cron, context=context, queue_name=queue
            )

    def list_runs(self, limit: int | None = None, **wanted: Any) -> list[Any]:
        """The runs, latest first, as the engine describes them."""
        options = {"name": [PROMPT, SCHEDULED], "limit": limit, "sort_desc": True, **wanted}
        with as_turnout_errors():
            return self.client.list_workflows(**options)

    def list_running(self) -> list[Any]:
        """The runs that a worker has taken. What a prompt says is not read: there may be many, and often."""
        prompts = self.list_runs(name=[PROMPT], status="PENDING", load_output=False, load_input=False)
        return prompts + self.list_runs(name=[SCHEDULED], status="PENDING", load_output=False)

    def list_schedules(self) -> list[Any]:
        with as_turnout_errors():
            return list(self.client.list_schedules())

    def resume(self, ids: list[str], queue: str) -> None:
        """Have runs whose worker is gone picked up by others."""
        with as_turnout_errors():
            self.client.resume_workflows(ids, queue_name=queue)

    def cancel(self, id: str) -> None:
        """Take a run that no worker has begun out of the queue."""
        with as_turnout_errors():
            self.client.cancel_workflow(id)

    def delete_schedule(self, name: str) -> bool:
        with as_turnout_errors():
            if self.client.get_schedule(name) is None:
                return False
            self.client.delete_schedule(name)
            return True

    async def result(self, id: str) -> dict[str, Any]:
        """What came of a run; waits for its end. A failure is raised."""
        with as_turnout_errors():
            handle: Any = await self.client.retrieve_workflow_async(id)
            found: dict[str, Any] = await handle.get_result(polling_interval_sec=POLL)
            return found


async def start_worker(store: Store, work: Work, *, name: str, queue: str, concurrency: int) -> None:
    """Take runs from the queue from now on, at most so many at once, on the loop that runs here."""
    config: DBOSConfig = {
        "name": "turnout",
        "system_database_url": database_of(store),
        "serializer": DBOSPortableJSONSerializer(),
        "application_version": VERSION,
        "executor_id": name,
        "log_level": "ERROR",
        "scheduler_polling_interval_sec": 1.0,
        "notification_listener_polling_interval_sec": POLL,
    }
    with as_turnout_errors():
        DBOS(config=config)

        async def finish_run(session: str, prompt: str, key: str) -> dict[str, Any]:
            return await work(session, prompt, key)

        async def finish_scheduled(at: Any, context: Any) -> dict[str, Any]:
            return await work(*scheduled_run(at, context))

        DBOS.workflow(name=PROMPT, max_recovery_attempts=None)(finish_run)
        DBOS.workflow(name=SCHEDULED, max_recovery_attempts=None)(finish_scheduled)
        DBOS.listen_queues([queue])
        DBOS.launch()  # on this loop: the engine runs workflows on the loop of the thread that launches it
        await DBOS.register_queue_async(
            queue, worker_concurrency=concurrency, polling_interval_sec=POLL, on_conflict="always_update"
        )


def stop_worker(grace: float) -> None:
    """Take no more runs, and give those that are under way this many seconds to end."""
    DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=int(grace))


def scheduled_run(at: Any, context: dict[str, str]) -> tuple[str, str, str]:
    """The session, the prompt and the key of a scheduled run: each time is another prompt."""
    key = f"{context['name']}-{re.sub('[^0-9]', '', str(at))[:14]}"
    return context["session"] or key, context["prompt"], key


@contextmanager
def as_turnout_errors() -> Any:
    """Errors of the engine and of its database as ours."""
    try:
        yield
    except TurnoutError:
        raise
    except DBOSException as error:
        raise TurnoutError(f"the engine refused: {error}; see `turnout runs`") from error
    except Exception as error:
        if type(error).__module__.startswith(("sqlalchemy", "psycopg")):
            text = str(error).partition("\n")[0]
            raise StoreError(
                f"the engine's database failed: {text}; check the server and try again"
            ) from error
        raise
