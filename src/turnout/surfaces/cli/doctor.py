"""`turnout doctor`: what is wrong with a session, in which layer, and what resuming it does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..shared.clean_text import printable
from ..shared.open_session import find_session
from .output import json_text, table, value

if TYPE_CHECKING:
    from ...history.ledger import ToolInteraction
    from ...interchange.doctor import Examination


@click.command("doctor")
@click.argument("session", metavar="SESSION|FILE")
@click.option("--from", "source", default="", help="The format of the file; detected by default.")
@click.option(
    "--copy", type=click.Path(path_type=Path), help="Write a repaired copy to this file, as JSON lines."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def doctor_command(ctx: click.Context, session: str, source: str, copy: Path | None, as_json: bool) -> None:
    """Find what is wrong with a stored session or a file, and what resuming it will do.

    FILE is an export of turnout, or a session of another program. The original is never
    changed; `--copy` writes a repaired copy, which `turnout import turnout` accepts.
    Calls without a result are listed, with what providers answer when they are sent unchanged.
    The exit code is 1 if a rule is broken and 0 otherwise.
    """
    from ...interchange.doctor import write_copy

    examination = _examination_of(session, source)
    if as_json:
        click.echo(json_text(_examination_json(examination)))
    else:
        click.echo(printable("\n".join(_report_lines(examination))))
    if copy is not None:
        write_copy(examination, copy)
        click.echo(f"A repaired copy is in {copy}.", err=True)
    ctx.exit(0 if examination.is_well else 1)


def _examination_of(session: str, source: str) -> Examination:
    from ...interchange.doctor import examine_file, examine_session
    from ...store import open_store

    if source or Path(session).is_file():
        return examine_file(Path(session), source)
    with open_store(os.environ) as store:
        return examine_session(store, find_session(store, session))


def _examination_json(examination: Examination) -> dict[str, object]:
    return {
        "layer": examination.layer,
        "findings": [value(finding) for finding in examination.findings],
        "unanswered": [_call_json(each) for each in examination.unanswered],
        "refusals": [value(refusal) for refusal in examination.refusals],
        "resume": list(examination.resume),
        "command": examination.command,
    }


def _call_json(each: ToolInteraction) -> dict[str, object]:
    return {"call_id": each.call.id, "name": each.call.name, "turn": each.turn_key, "started": each.started}


def _report_lines(examination: Examination) -> list[str]:
    history = examination.history
    lines = [
        f"{len(history.entries)} entries, {len(history.turns)} turns in view.",
        "",
        _verdict(examination),
    ]
    if examination.findings:
        rows = [
            (finding.layer, finding.code, finding.call_id, finding.detail or finding.meaning)
            for finding in examination.findings
        ]
        lines += ["", table(("layer", "what", "call", "detail"), rows)]
    if examination.refusals:
        lines += ["", "When the messages are sent unchanged, providers answer:", *_answers(examination)]
    lines += ["", "When turnout opens it:", *(f"  {line}" for line in examination.resume)]
    return [*lines, "", f"To resume it: {examination.command}"]


def _verdict(examination: Examination) -> str:
    open_calls = ", ".join(f"{each.call.name} ({each.call.id})" for each in examination.unanswered)
    if not examination.is_well:
        fault = f"The fault is in the {examination.layer}."
        return f"{fault} Without a result: {open_calls}." if open_calls else fault
    if open_calls:
        return f"No rule is broken, but there is no result for {open_calls}."
    return "No problem found: every provider would accept it."


def _answers(examination: Examination) -> Iterator[str]:
    """One line with the providers, and below it their answer."""
    for refusal in examination.refusals:
        yield f"  {', '.join(refusal.targets)}"
        yield f"    400 {refusal.rule}: {refusal.answer}" if refusal.rule else "    accepted"
