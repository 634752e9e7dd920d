"""`turnout sandbox`: what keeps files and commands in the workspace, with proof."""

from __future__ import annotations

import asyncio
import os

import click
from msgspec import Struct

from ...tools.confine.proof import Proof, prove_sandbox
from ...tools.confine.sandbox import sandbox_for, version
from ...tools.confine.workspace import WorkspaceFiles
from ...tools.policy import shell_words
from ..shared.clean_text import one_line
from . import exit_codes as exits
from .output import json_text, table

ESCAPED = 1
FILES = {
    "by_kernel": "opened beneath the workspace by the kernel (openat2)",
    "step_by_step": "opened beneath the workspace step by step (this kernel has no openat2)",
}


class SandboxReport(Struct, frozen=True):
    """What is in force in a folder. `proofs` is empty if there is no sandbox to test."""

    folder: str
    files: str
    commands: str
    unasked: str
    confined: bool
    proofs: list[Proof]

    @property
    def failures(self) -> list[Proof]:
        """The attempts that escaped, and those that failed in another way and so prove nothing."""
        return [proof for proof in self.proofs if not proof.held]


@click.command("sandbox")
@click.argument("folder", type=click.Path(exists=True, file_okay=False), default=".")
@click.option("-v", "--verbose", is_flag=True, help="Show every attempt and how it was denied.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def sandbox_command(ctx: click.Context, /, folder: str, verbose: bool, as_json: bool) -> None:
    """Show what confines tools in FOLDER, and prove it by trying to escape.

    The attempts run in a temporary folder and do no harm if they succeed. The exit code is 3
    if there is no sandbox, and 1 if an attempt escaped or could not be made.

    \b
    Examples:
      turnout sandbox
      turnout sandbox ~/project --verbose
    """
    report = _report(folder)
    click.echo(json_text(report) if as_json else _report_text(report, verbose))
    if report.failures:
        ctx.exit(ESCAPED)
    ctx.exit(exits.OK if report.confined else exits.CONFIGURATION)


def _report(folder: str) -> SandboxReport:
    with WorkspaceFiles(folder) as workspace:
        spawn = sandbox_for(workspace)
        files = FILES.get(workspace.confinement, workspace.confinement)
    commands = f"in {version()}: the system is read-only, /tmp and the home folder are private and empty"
    if not spawn.confines:
        commands = f"not confined, so every command asks: {spawn.note}"
    judged = not isinstance(shell_words.plain_commands("ls"), shell_words.Doubt)
    unasked = "commands that only read" if judged and spawn.confines else "none"
    proofs = asyncio.run(prove_sandbox()) if spawn.confines else []
    return SandboxReport(os.path.abspath(folder), files, commands, unasked, spawn.confines, proofs)


def _report_text(report: SandboxReport, verbose: bool) -> str:
    rows = [
        ("folder", one_line(report.folder)),
        ("files", report.files),
        ("commands", report.commands),
        ("run unasked", report.unasked),
    ]
    if report.proofs:
        held = len(report.proofs) - len(report.failures)
        rows.append(("proof", f"{len(report.proofs)} checks, {held} held"))
    shown = report.proofs if verbose else report.failures
    lines = [f"{_verdict(proof)}  {proof.name}: {one_line(proof.detail)}" for proof in shown]
    return "\n".join([table(("what", "how"), rows), *lines])


def _verdict(proof: Proof) -> str:
    if proof.held:
        return "held"
    return "ESCAPED" if proof.tried else "NOT PROVEN"
