"""`turnout demo`: one conversation through every provider family, whatever goes wrong."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter

import click

from .page import page
from .show import Show
from .stage import Stage, Verdict
from .story import STORY


@click.command()
@click.option("--html", type=click.Path(dir_okay=False), default=None, help="Write the same as a page.")
@click.pass_context
def demo(ctx: click.Context, html: str | None) -> None:
    """Show one conversation that changes provider at every turn and is never refused.

    Real tools work on real files in a temporary folder; one call is refused, one is stopped, one
    process is killed, one provider fails. The providers are simulated and as strict as the real ones.
    """
    show = Show()
    began = perf_counter()
    with tempfile.TemporaryDirectory(prefix="turnout-demo-") as folder:
        stage = Stage(Path(folder), show.event)
        for step in STORY:
            show.step(step)
            asyncio.run(stage.play(step))
            show.verdict(stage.transport, stage.history)
        verdicts = stage.verdicts()
    seconds = perf_counter() - began
    show.summary(verdicts, seconds)
    if html is not None:
        Path(html).write_text(page(show.lines, verdicts, seconds), encoding="utf-8")
    ctx.exit(1 if any(verdict.refused for verdict in verdicts) else 0)


__all__ = ["Verdict", "demo"]
