"""`turnout doctor`: what is wrong with a session, in which layer, and what a resume does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .clean import printable
from .opening import known
from .output import json_text, table, value

if TYPE_CHECKING:
    from ...runtime.doctor import Examination


@click.command()
@click.argument("session", metavar="SESSION|FILE")
@click.option("--from", "source", default="", help="What kind of file it is; by default found out.")
@click.option("--copy", type=click.Path(path_type=Path), help="Write a repaired copy there, as JSON lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor(ctx: click.Context, session: str, source: str, copy: Path | None, as_json: bool) -> None:
    """Say what is wrong with a stored session or a file, and what going on with it will do.

    FILE is an export of turnout, or a session of another program. The original is never
    changed; `--copy` writes a repaired one, which `turnout import turnout` takes.
    The exit code is 0 if all is well and 1 if a rule is broken.
    """
    from ...runtime.doctor import write_copy

    examination = _examined(session, source)
    if as_json:
        click.echo(json_text(_plain(examination)))
    else:
        click.echo(printable("\n".join(_told(examination))))
    if copy is not None:
        write_copy(examination, copy)
        click.echo(f"A repaired copy is in {copy}.", err=True)
    ctx.exit(0 if examination.is_well else 1)


def _examined(session: str, source: str) -> Examination:
    from ...runtime.doctor import examine_file, examine_session
    from ...runtime.store import open_store

    if source or Path(session).is_file():
        return examine_file(Path(session), source)
    with open_store(os.environ) as store:
        return examine_session(store, known(store, session))


def _plain(examination: Examination) -> dict[str, object]:
    findings = [value(finding) for finding in examination.findings]
    return {"layer": examination.layer, "findings": findings, "resume": list(examination.resume)}


def _told(examination: Examination) -> list[str]:
    history = examination.history
    lines = [f"{len(history.entries)} entries, {len(history.turns)} turns in view.", ""]
    if examination.is_well:
        lines.append("All is well: every provider would take it.")
    else:
        lines.append(f"The fault is in the {examination.layer}.")
    if examination.findings:
        rows = [
            (finding.layer, finding.code, finding.call_id, finding.detail or finding.meaning)
            for finding in examination.findings
        ]
        lines += ["", table(("layer", "what", "call", "detail"), rows)]
    return [*lines, "", "When it is opened:", *(f"  {line}" for line in examination.resume)]
