"""`turnout sessions`: list, search, show, rename, fork, export, delete and prune stored sessions."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from ...world.places import write_new
from ...world.secrets import Secrets
from ..shared.clean_text import json_line, one_line, printable
from ..shared.open_session import find_session
from .output import json_text, table

if TYPE_CHECKING:
    from ...store import SessionSummary, Store

UNITS = {"h": 3600.0, "d": 86_400.0, "w": 604_800.0, "m": 2_592_000.0, "y": 31_536_000.0}
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def open_user_store(ctx: click.Context) -> Store:
    """The user's store, closed with the command."""
    from ...store import open_store

    return ctx.with_resource(open_store(os.environ))


@click.group("sessions", invoke_without_command=True)
@click.option("-n", "--limit", type=int, default=20, show_default=True, help="Maximum number of sessions.")
@click.option("--all", "everything", is_flag=True, help="List all sessions, and those of subagents too.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def sessions_command(ctx: click.Context, limit: int, everything: bool, as_json: bool) -> None:
    """List the stored sessions, latest first; the commands below work on one of them.

    Give the id of a session, or the beginning of it.

    \b
    turnout sessions                          list them
    turnout sessions search "blue whale"      find it in all sessions
    turnout sessions export 4f2a --to page.html
    turnout sessions fork 4f2a --at 3         continue differently after turn 3
    turnout sessions prune --older-than 90d   delete old sessions
    """
    if ctx.invoked_subcommand is not None:
        return
    lines = open_user_store(ctx).list(limit=None if everything else limit, subagents=everything)
    if as_json:
        click.echo(json_text(lines))
    elif not lines:
        click.echo("No sessions yet.")
    else:
        heads = ("id", "when", "turns", "cost", "model", "title")
        click.echo(table(heads, [_row(line) for line in lines]))


def _row(line: SessionSummary) -> tuple[str, ...]:
    cost = "" if line.cost is None else f"${line.cost:.4f}"
    state = " (open)" if line.holder is not None else ""
    when = _time_text(line.updated) + state
    return line.id, when, str(line.turns), cost, printable(line.model), one_line(line.title, 60)


def _time_text(stamp: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp))


@sessions_command.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("-n", "--limit", type=int, default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def search_command(ctx: click.Context, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find the sessions that contain all these words, from users, models or tools."""
    hits = open_user_store(ctx).search(" ".join(words), limit)
    if as_json:
        click.echo(json_text(hits))
    elif hits:
        rows = [
            (hit.session, _time_text(hit.updated), one_line(hit.title, 40), one_line(hit.excerpt))
            for hit in hits
        ]
        click.echo(table(("id", "when", "title", "where"), rows))
    ctx.exit(0 if hits else 1)


@sessions_command.command("show")
@click.argument("session")
@click.pass_context
def show_command(ctx: click.Context, session: str) -> None:
    """Print a session for reading; `export` writes it to a file."""
    from ...interchange.exports import to_markdown

    store = open_user_store(ctx)
    id = find_session(store, session)
    text = to_markdown(store.read(id), store.summary(id).title).decode()
    click.echo(printable(Secrets(os.environ).hide_known(text)), nl=False)


@sessions_command.command("rename")
@click.argument("session")
@click.argument("title")
@click.pass_context
def rename_command(ctx: click.Context, session: str, title: str) -> None:
    """Change the title of a session."""
    store = open_user_store(ctx)
    store.rename(find_session(store, session), one_line(title))


@sessions_command.command("fork")
@click.argument("session")
@click.option("--at", default=None, help="The last turn to copy: its number from 1, or its key.")
@click.pass_context
def fork_command(ctx: click.Context, session: str, at: str | None) -> None:
    """Copy a session, or the beginning of it, into a new one; prints the new id."""
    store = open_user_store(ctx)
    turn = int(at) if at is not None and at.isdigit() else at
    click.echo(store.fork(find_session(store, session), at=turn))


@sessions_command.command("export")
@click.argument("session")
@click.option(
    "--to", "path", type=click.Path(path_type=Path), help="Write to this file; standard output by default."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown", "html"]),
    help="By default from the name of the file.",
)
@click.pass_context
def export_command(ctx: click.Context, session: str, path: Path | None, form: str | None) -> None:
    """Write a session as JSON lines (to import again), Markdown or HTML. No file is overwritten."""
    from ..shared.session_export import export_session, times_of_entries

    store = open_user_store(ctx)
    id = find_session(store, session)
    title, times = store.summary(id).title, times_of_entries(store, id)
    data = export_session(store.read(id), form or _form(path), Secrets(os.environ), title, times)
    if path is None:
        if sys.stdout.isatty():  # escaped for a terminal; it stays the same JSON
            data = json_line(data.decode()).encode()
        sys.stdout.buffer.write(data)
        return
    write_new(path, data)


def _form(path: Path | None) -> str:
    from ..shared.session_export import FORM_OF_SUFFIX

    return FORM_OF_SUFFIX.get(path.suffix if path else "", "jsonl")


@sessions_command.command("delete")
@click.argument("names", nargs=-1, required=True, metavar="SESSION...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def delete_command(ctx: click.Context, names: tuple[str, ...], yes: bool) -> None:
    """Delete sessions for good, with the sessions of their subagents."""
    store = open_user_store(ctx)
    ids = [find_session(store, name) for name in names]
    if not yes:
        click.confirm(f"Delete {len(ids)} session{'s' * (len(ids) > 1)} for good?", abort=True)
    for id in ids:
        click.echo(f"deleted {', '.join(store.delete(id))}")


@sessions_command.command("prune")
@click.option("--older-than", help="Unused for this long: 12h, 90d, 8w, 6m, 1y.")
@click.option("--larger-than", help="Then the oldest, until the total size is at most this: 500k, 200m, 2g.")
@click.option(
    "--keep", type=click.IntRange(0), help="Then the oldest, until each client has at most so many."
)
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def prune_command(
    ctx: click.Context,
    older_than: str | None,
    larger_than: str | None,
    keep: int | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Delete old sessions, by age, total size and number per client. Open sessions are kept.

    A session whose id is CLIENT/… belongs to that client; all others count together.
    """
    if older_than is None and larger_than is None and keep is None:
        raise UsageError("prune needs a limit: give --older-than 90d, --larger-than 200m or --keep 100")
    store = open_user_store(ctx)
    limits: dict[str, Any] = {"older_than": _seconds(older_than), "larger_than": _bytes(larger_than)}
    limits["keep"] = keep
    chosen = store.prune(**limits, dry_run=True)
    for line in chosen:
        click.echo(f"{line.id}  {_time_text(line.updated)}  {one_line(line.title, 60)}")
    if dry_run or not chosen:
        return
    if not yes:
        click.confirm(f"Delete these {len(chosen)} for good?", abort=True)
    click.echo(f"deleted {len(store.prune(**limits))}")


def _seconds(given: str | None) -> float | None:
    if given is None:
        return None
    if (found := re.fullmatch(r"(\d+)([hdwmy])", given.strip().lower())) is None:
        raise UsageError(f"{given!r} is not an age; write it as 12h, 90d, 8w, 6m or 1y")
    return int(found[1]) * UNITS[found[2]]


def _bytes(given: str | None) -> int | None:
    if given is None:
        return None
    if (found := re.fullmatch(r"(\d+)([kmg]?)b?", given.strip().lower())) is None:
        raise UsageError(f"{given!r} is not a size; write it as 500k, 200m or 2g")
    return int(found[1]) * SIZES[found[2]]
