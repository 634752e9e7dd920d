"""`turnout check`: why a request is refused, and the command that makes an accepted one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ...errors import UsageError
from ...history.ingest import ingest
from ...plain import loads
from ...providers import PROVIDERS
from ...wire.check import Problem
from ...wire.check import check as problems_in
from ...wire.check.names import format_of, resolve_api
from ..shared.clean_text import printable
from .output import json_text, table

STDIN = "<stdin>"


@click.command("check")
@click.argument("request", type=click.File("rb"), default="-")
@click.option("--api", required=True, help="Whose rules to apply: any provider or format, such as anthropic.")
@click.option("--model", default=None, help="The model, if the body does not name it (Gemini).")
@click.option(
    "--header", "headers", multiple=True, help="A header of the request, as NAME:VALUE; repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
@click.pass_context
def check_command(
    ctx: click.Context, request: Any, api: str, model: str | None, headers: tuple[str, ...], as_json: bool
) -> None:
    """List what the provider would refuse in a request, and what to do about it.

    REQUEST is a body, a list of messages, or what `turnout render --envelope` prints. What only
    some servers refuse is listed as a warning. The exit code is 1 if anything would be refused
    and 0 if not; no output means that no problem was found.

        turnout check --api gemini request.json
    """
    data = request.read()
    problems = problems_in(api, data, model=model, headers=_headers(headers), warnings=True)
    if as_json:
        click.echo(json_text(problems))
    elif problems:
        click.echo(printable(_problem_table(problems)))
        if line := _repair_line(api, data, model, getattr(request, "name", STDIN)):
            click.echo(printable(f"\nA request that passes:\n  {line}"))
    ctx.exit(1 if any(problem.is_refused for problem in problems) else 0)


def _headers(given: Sequence[str]) -> dict[str, str] | None:
    headers = {}
    for line in given:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise UsageError(f"--header {line!r}: write it as NAME:VALUE")
        headers[name.strip()] = value.strip()
    return headers or None


def _problem_table(problems: Sequence[Problem]) -> str:
    rows = [(item.level, item.rule, item.path, item.answer, item.advice) for item in problems]
    return table(("level", "rule", "where", "the provider would answer", "what to do"), rows)


def _repair_line(api: str, data: bytes, model: str | None, path: str) -> str:
    """The command that renders the same conversation into a request that passes; "" if there is none."""
    try:
        body = loads(data)
    except (ValueError, RecursionError):
        return ""
    fields = body if isinstance(body, Mapping) else {}
    name, named = resolve_api(api)
    source, target = format_of(name, fields)
    if not _is_conversation(body, source):
        return ""
    written = fields.get("model")
    chosen = model or named or (written if isinstance(written, str) else "") or "MODEL"
    provider = target if target.partition("@")[0] in PROVIDERS else "compatible"
    words = ["turnout", "render", "--from", source, "--to", f"{provider}:{chosen}"]
    return shlex.join(words) + (f" {shlex.quote(path)}" if path != STDIN else " < REQUEST")


def _is_conversation(body: Any, source: str) -> bool:
    try:
        ingest(body, format=source)
    except UsageError:
        return False
    return True
