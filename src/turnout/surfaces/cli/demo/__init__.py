"""`turnout demo`: one conversation through every provider family, whatever goes wrong."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter

import click

from ....rendering.policy import WORDING
from ....session.events import Cancelled, Complete, Failed, SessionEvent, Status
from ....tools.declare.events import ToolResult, ToolState
from ...shared.clean_text import printable
from ..output import table
from .stage import Stage
from .story import EVENTS, STORY

HEAD = ("provider", "requests", "accepted", "refused", "failed", "a naive replay gets")


@click.command("demo")
@click.pass_context
def demo_command(ctx: click.Context) -> None:
    """Show one conversation that changes provider at every turn and is never refused.

    Real tools work on real files in a temporary folder; one call is refused, one is stopped, one
    process is killed, one provider fails. The providers are simulated and as strict as the real ones.
    """
    show, started = Show(), perf_counter()
    with tempfile.TemporaryDirectory(prefix="turnout-demo-") as folder:
        stage = Stage(Path(folder))
        for step in STORY:
            click.secho(f"\n{step.target}", fg="cyan", bold=True)
            click.echo(f"  > {step.prompt}")
            if step.event:
                click.secho(f"  ! {EVENTS[step.event]}", fg="yellow", bold=True)
            asyncio.run(stage.play(step, show.event))
            show.verdicts(stage)
        rows = stage.table_rows()
    requests, refused = len(stage.transport.exchanges), sum(int(row[3]) for row in rows)
    naive = sum(row[-1] != "200" for row in rows)
    click.echo(f"\n{table(HEAD, rows)}\n")
    click.secho(
        f"One conversation, {len(rows)} providers, {requests} requests, {refused} refused. "
        f"Sent as it came, {naive} of {len(rows)} would have refused it. {perf_counter() - started:.1f} s.",
        fg="cyan",
        bold=True,
    )
    ctx.exit(1 if refused else 0)


class Show:
    """Prints what happens. Results that turnout made up are found in the history, after each step."""

    def __init__(self) -> None:
        self._running: list[str] = []
        self._shown: set[int | str] = set()

    def event(self, event: SessionEvent) -> None:
        match event:
            case ToolState(_, name, "executing"):
                self._running.append(name)
            case ToolResult(_, name, outcome) if not outcome.synthetic:
                self._show_running()
                first = printable(outcome.text).strip().partition("\n")[0][:70]
                status = "" if outcome.status == "complete" else f" {outcome.status}:"
                click.secho(f"    {name}:{status} {first}", fg="yellow" if status else None, dim=not status)
            case Status(kind, detail, target) if kind != "tools":
                click.secho(f"  {kind}: {detail}{f' -> {target}' if target else ''}", fg="magenta")
            case Complete(turn):
                click.echo(f"  {turn.origin.provider}: {printable(turn.text)}")
            case Cancelled():
                click.secho("  stopped; the history is valid at once", fg="yellow", bold=True)
            case Failed(error):
                click.secho(f"  failed: {error}", fg="red", bold=True)

    def _show_running(self) -> None:
        """Which tools run together, when the first of their results is there."""
        if names := self._running:
            count = f"{len(names)} in parallel" if len(names) > 1 else "1 tool"
            click.secho(f"  {count}: {', '.join(names)}", fg="blue")
        self._running = []

    def verdicts(self, stage: Stage) -> None:
        """What had to be made up in this step, and what the providers answered to its requests."""
        self._running = []
        for item in stage.history.ledger:
            if (outcome := item.outcome) and outcome.synthetic and self._is_new(item.call.id):
                why = f"made up by turnout: {WORDING.get(outcome.reason, '')}"
                click.secho(f"    {item.call.name}: {outcome.status}, {why}", fg="yellow")
        for number, seen in enumerate(stage.transport.exchanges):
            if not self._is_new(number):
                continue
            if seen.problems:
                click.secho(f"  {seen.provider} refused: {seen.problems[0].answer}", fg="red", bold=True)
            else:
                answer = "accepted" if seen.status < 400 else str(seen.status)
                click.secho(f"  {seen.provider} {answer} {len(seen.body):,} bytes", fg="green")

    def _is_new(self, key: int | str) -> bool:
        is_new = key not in self._shown
        self._shown.add(key)
        return is_new
