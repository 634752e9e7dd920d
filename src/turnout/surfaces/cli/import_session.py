"""`turnout import`: import a session of another program, or one that turnout exported."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..shared.clean_text import one_line, printable

if TYPE_CHECKING:
    from ...diagnostic import Diagnostic
    from ...interchange.foreign import ForeignSession

PROGRAMS = ("claude-code", "codex", "gemini-cli", "opencode", "pi", "qwen-code", "llm", "turnout")


@click.command("import")
@click.argument("program", type=click.Choice(PROGRAMS))
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--id", "key", default="", help="The id of the stored session; new by default.")
@click.option("--title", default="", help="Another title than its own.")
@click.option("--conversation", default="", help="Which one, if the file holds several (llm, opencode).")
def import_command(program: str, file: Path, key: str, title: str, conversation: str) -> None:
    """Store the session in FILE, so that any provider can continue it; prints its id.

    What does not fit into a turn is kept as notes and reported on standard error.

    \b
    turnout import claude-code ~/.claude/projects/-home-me-work/4f2a….jsonl
    turnout import codex ~/.codex/sessions/2026/01/02/rollout-….jsonl
    turnout import gemini-cli ~/.gemini/tmp/…/chats/session-….jsonl
    turnout import opencode ~/.local/share/opencode/opencode.db --conversation ses_…
    turnout import llm "$(llm logs path)"
    turnout import turnout session.jsonl       # turnout sessions export
    """
    from ...store import open_store

    key = key or f"s{os.urandom(8).hex()}"
    found = _read_session(program, file, key, conversation)
    source = f"{program}:{found.id or file.name}"
    with open_store(os.environ) as store:
        id = store.add(found.history, title=one_line(title or found.title, 80), source=source)
    for line in _diagnostic_lines(found.history.diagnostics):
        click.echo(printable(line), err=True)
    click.echo(id)


def _read_session(program: str, file: Path, key: str, conversation: str) -> ForeignSession:
    from ...interchange.exports import from_jsonl
    from ...interchange.foreign import ForeignSession, read_file

    if program != "turnout":
        return read_file(program, file, key, conversation)
    found = from_jsonl(file.read_bytes(), key)
    return ForeignSession(found.history, found.title)


def _diagnostic_lines(diagnostics: Iterable[Diagnostic]) -> list[str]:
    return [" ".join(part for part in (item.code, item.call_id, item.detail) if part) for item in diagnostics]
