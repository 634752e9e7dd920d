"""`turnout rescue`: sessions of other agents in this folder; which are stuck, and how they go on."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from ...errors import UsageError
from ..shared.clean_text import one_line, printable
from .output import indented_text, json_text

if TYPE_CHECKING:
    from ...interchange.rescue import RescueCase

HOMES = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent"),
}
"""Where the programs that we write files for keep theirs: a variable, else below the home folder."""


@click.command("rescue")
@click.argument("which", required=False, default="", metavar="[NUMBER|ID]")
@click.option("-m", "--model", default="", help="The model that goes on; the one in use by default.")
@click.option(
    "--write",
    "program",
    is_flag=False,
    flag_value="same",
    default="",
    metavar="[PROGRAM]",
    help="Write a repaired file that the program resumes: claude-code, codex or pi.",
)
@click.option("--import", "only_import", is_flag=True, help="Store it in turnout and print its id; no chat.")
@click.option("--cwd", "folder", default="", help="Look for the sessions of this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def rescue_command(
    ctx: click.Context,
    /,
    which: str,
    model: str,
    program: str,
    only_import: bool,
    folder: str,
    as_json: bool,
) -> None:
    """Find the sessions of Claude Code, Codex, Gemini CLI, opencode, pi and qwen-code in this folder.

    The list shows which of them are stuck, with the error that their provider would answer.
    With a NUMBER or ID the session goes on in turnout, with any model. With --write a repaired
    file is written that Claude Code, Codex or pi can resume. Their own files are never changed.

    \b
    Examples:
      turnout rescue                     the list
      turnout rescue 1                   resume the first one here
      turnout rescue 1 --write           a repaired file for its own program
      turnout rescue 1 --write codex     … or for another one
    """
    from ...interchange.rescue import rescue_cases

    place = Path(folder or ".").resolve()
    cases = rescue_cases(place, os.environ)
    if not which and not as_json and cases and sys.stdin.isatty() and sys.stdout.isatty():
        _print_list(cases, place)
        which = click.prompt("Resume number (enter: none)", default="", show_default=False).strip()
        if not which:
            return
    if not which:
        click.echo(json_text([_case_json(case) for case in cases])) if as_json else _print_list(cases, place)
        return
    case = _chosen_case(cases, which)
    if program:
        _write_repaired(case, case.found.program if program == "same" else program, place)
        return
    id = store_case(case)
    if only_import:
        click.echo(id)
        return
    from . import main

    arguments = ["chat", "-r", id, *(("-m", model) if model else ()), *(("--cwd", folder) if folder else ())]
    main.main(arguments, prog_name="turnout", standalone_mode=False)


def _print_list(cases: list[RescueCase], place: Path) -> None:
    if not cases:
        click.echo(f"No session of another agent was found for {place}.")
        click.echo("Looked for Claude Code, Codex, Gemini CLI, opencode, pi and qwen-code.", err=True)
        return
    for number, case in enumerate(cases, 1):
        turns = len(case.history.turns)
        head = f"{number:>3}  {case.found.program:<11}  {_age(case.found.updated):>7}  {turns:>4} turns"
        click.echo(printable(f"{head}  {one_line(case.session.title, 60) or '(no title)'}"))
        verdict = indented_text(printable(one_line(case.verdict, 400)), "     ")
        click.secho(verdict, fg="red" if case.is_stuck else None)
    stuck = sum(case.is_stuck for case in cases)
    click.echo(f"\n{len(cases)} found, {stuck} stuck. turnout rescue NUMBER resumes one here;")
    click.echo("turnout rescue NUMBER --write writes a repaired file for its own program.")


def _case_json(case: RescueCase) -> dict[str, object]:
    refusal = case.refusal
    return {
        "program": case.found.program,
        "path": str(case.found.path),
        "id": case.session.id or case.found.conversation or case.found.path.stem,
        "title": case.session.title,
        "turns": len(case.history.turns),
        "updated": case.found.updated,
        "stuck": case.is_stuck,
        "target": case.target,
        "refusal": None if refusal is None else {"rule": refusal.rule, "answer": refusal.answer},
        "damage": list(case.damage),
        "problem": case.problem,
    }


def _chosen_case(cases: list[RescueCase], which: str) -> RescueCase:
    """The case of a number in the list, or of the beginning of an id or file name."""
    if which.isdigit() and 1 <= int(which) <= len(cases):
        case = cases[int(which) - 1]
    else:
        fitting = [
            case
            for case in cases
            if (case.session.id or case.found.conversation).startswith(which) or case.found.path.stem == which
        ]
        if len(fitting) != 1:
            raise UsageError(f"{which!r} names {len(fitting)} sessions; give a number of `turnout rescue`")
        (case,) = fitting
    if case.problem:
        raise UsageError(f"{case.found.path} cannot be read ({case.problem}); choose another session")
    return case


def store_case(case: RescueCase) -> str:
    """Store the session in turnout, under a new id, with what was resolved on stderr."""
    from ...interchange.rescue import read_found
    from ...store import open_store

    found = read_found(case.found, f"s{os.urandom(8).hex()}")
    source = f"{case.found.program}:{found.id or case.found.path.name}"
    with open_store(os.environ) as store:
        id = store.add(found.history, title=one_line(found.title, 80), source=source)
    click.echo(printable(one_line(f"{source}: {case.verdict}", 400)), err=True)
    return id


def _write_repaired(case: RescueCase, program: str, place: Path) -> None:
    from ...interchange.rescue_exports import WRITERS, NewFile
    from ...world.places import private_folder, write_new

    if program not in WRITERS:
        raise UsageError(
            f"files of {program} are not written; use --write with one of {', '.join(WRITERS)}, "
            "or go on in turnout"
        )
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime())}.000Z"
    made = WRITERS[program](case.history, NewFile(str(uuid4()), place, stamp, case.session.title))
    path = _home_of(program, os.environ) / made.place
    private_folder(path.parent)
    write_new(path, made.data)
    click.echo(str(path))
    click.echo(f"To go on: {made.command}", err=True)


def _home_of(program: str, environment: Mapping[str, str]) -> Path:
    variable, usual = HOMES[program]
    return Path(environment.get(variable) or Path(environment.get("HOME") or Path.home(), usual))


def _age(updated: float) -> str:
    seconds = max(0, int(time.time() - updated))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "now"
