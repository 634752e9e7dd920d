"""`turnout worker`, `submit`, `runs` and `cancel`: prompts that any worker on any machine finishes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ...errors import UsageError
from ..shared.clean_text import printable
from . import exit_codes as exits

if TYPE_CHECKING:
    from ...session.session import Session
    from ...store import Store
    from ...workers.prompt_work import SessionFor

STORE = click.option(
    "--store",
    "address",
    envvar="TURNOUT_STORE",
    default=None,
    metavar="URL",
    help="postgresql://user@host/database, or the path of a file to try it out. [env: TURNOUT_STORE]",
)
QUEUE = click.option(
    "--queue", default="turnout", metavar="NAME", show_default=True, help="The queue to use."
)


@click.command("worker")
@STORE
@click.option(
    "--app", default="", metavar="MODULE:FUNCTION", help="session_for(id, store) -> Session, your own."
)
@click.option("--concurrency", type=click.IntRange(1), default=10, show_default=True, help="Runs at once.")
@QUEUE
@click.option(
    "--lease",
    type=click.FloatRange(0.5),
    default=30.0,
    show_default=True,
    help="Seconds without a sign of life after which another worker takes over.",
)
def worker_command(address: str | None, app: str, concurrency: int, queue: str, lease: float) -> None:
    """Finish submitted prompts until a signal comes; then end those that are under way.

    \b
    Examples:
      turnout worker --store postgresql://turnout@db/turnout
      turnout worker --store postgresql://turnout@db/turnout --app mybot:session_for --concurrency 50
    """
    from ...store import Store
    from ...workers.worker import Worker, print_report

    session_for = function_named(app) if app else usual_session
    with Store.at(address, lease=lease) as store:
        options: Any = {"queue": queue, "concurrency": concurrency, "report": print_report}
        asyncio.run(serve_until_signal(Worker(store, session_for, **options)))


async def serve_until_signal(worker: Any) -> None:
    """Run a worker; the first signal asks it to end, the second one ends it at once."""
    ends, loop = asyncio.Event(), asyncio.get_running_loop()

    def end_worker() -> None:
        if ends.is_set():
            os._exit(exits.INTERRUPTED)
        ends.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, end_worker)
    await worker.serve(ends)


def function_named(name: str) -> SessionFor:
    """The function that `module:function` names, also in a module of the current folder."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise UsageError(f"--app {name!r} is not a function; write module:function")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"--app {name}: {error}; check the name, or run in the module's folder") from error
    if not callable(found):
        raise UsageError(f"--app {name} is not a function; define session_for(id, store) there")
    return found  # type: ignore[no-any-return]


async def usual_session(id: str, store: Store) -> Session:
    """The session that `turnout run` would make here; calls that need approval wait for an answer."""
    return await asyncio.to_thread(make_usual_session, id, store)  # it reads files and the store


def make_usual_session(id: str, store: Store) -> Session:
    from ...session.settings import Approval
    from ..shared.open_session import SessionArguments, configuration, open_session

    wanted = SessionArguments()
    return open_session(wanted, configuration(wanted), store=store, id=id, approval=Approval(defer=True))


@click.command("submit")
@click.argument("prompt")
@STORE
@click.option("--session", default=None, metavar="ID", help="Say it in this session; else in a new one.")
@click.option("--key", default=None, help="The same key a second time is the same run.")
@click.option("--at", "at", default=None, metavar="TIME", help="Not before this time: 2026-11-20T08:00.")
@click.option("--every", default=None, metavar="CRON", help='At these times: "0 8 * * 1-5" (UTC).')
@click.option("--wait", "waits", is_flag=True, help="Wait for the answer and print it.")
@QUEUE
def submit_command(
    prompt: str,
    address: str | None,
    session: str | None,
    key: str | None,
    at: str | None,
    every: str | None,
    waits: bool,
    queue: str,
) -> None:
    """Have a worker say a prompt; prints the id of the run and of its session.

    \b
    Examples:
      turnout submit "Tidy the notes." --store postgresql://turnout@db/turnout --wait
      turnout submit "Report." --session report --every "0 8 * * *"
    """
    from ... import workers

    if waits and every:
        raise UsageError("--wait is for one run, and --every makes many; remove one of them")

    async def work(store: Store) -> None:
        options: Any = {"session": session, "key": key, "at": time_of(at), "every": every, "queue": queue}
        run = await workers.submit(store, prompt, **options)
        if not waits:
            click.echo(f"{run.id}\t{run.session}" if run.session else run.id)
            return
        result = await workers.wait(store, run.id)
        click.echo(printable(result["text"]))
        if result["status"] != "complete":
            click.echo(f"turnout: {result['status']}: {result['session']}", err=True)
            raise click.exceptions.Exit(
                exits.INTERRUPTED if result["status"] == "cancelled" else exits.REFUSED
            )

    with_store(address, work)


def time_of(text: str | None) -> datetime | None:
    """The time that `--at` says, in the time zone of this machine where it names none."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError as error:
        raise UsageError(f"--at {text!r} is not a time; write it as 2026-11-20T08:00") from error


@click.command("runs")
@STORE
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many.")
def runs_command(address: str | None, as_json: bool, limit: int) -> None:
    """List submitted prompts, latest first, with what came of them."""
    from ... import workers

    async def work(store: Store) -> None:
        for line in await workers.runs(store, limit=limit):
            if as_json:
                click.echo(msgspec.json.encode(line).decode())
                continue
            when = datetime.fromtimestamp(line.created).strftime("%Y-%m-%d %H:%M:%S")
            said = printable((line.text or line.prompt).partition("\n")[0])[:60]
            click.echo(f"{when}  {line.status:<9}  {line.id}  {line.session}  {said}")

    with_store(address, work)


@click.command("cancel")
@click.argument("id")
@STORE
def cancel_command(id: str, address: str | None) -> None:
    """Cancel a run, all runs of a session, or a schedule, on whatever machine they are."""
    from ... import workers

    async def work(store: Store) -> None:
        for each in await workers.cancel(store, id):
            click.echo(f"cancelled {each}")

    with_store(address, work)


def with_store(address: str | None, work: Any) -> None:
    """Do something with the store at an address, on a loop of its own."""
    from ...store import Store

    with Store.at(address, heartbeat=False) as store:
        asyncio.run(work(store))
