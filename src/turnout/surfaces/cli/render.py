"""`turnout render`: a request body that the target accepts, made from any conversation."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from ...errors import UsageError
from ...model import Origin
from ...plain import loads
from ...rendering.report import Report
from ...targets.inbound import InboundRequest, read_request
from ...targets.request import render as rendered
from ...world.request_settings import parse_options
from ..shared.clean_text import json_line, printable
from .output import value

REPORTED_ELSEWHERE = ("synthetic_result", "dropped_tool", "media_replaced")
"""Diagnostics that have their own line, with more in it."""


@click.command("render")
@click.argument("conversation", type=click.File("rb"), default="-")
@click.option(
    "--from", "source", default="openai-chat", show_default=True, help="Format of the conversation."
)
@click.option("--to", "target", required=True, help="Where to send it: provider:model.")
@click.option("--origin", default=None, help="The model that wrote the answers (provider:model), if known.")
@click.option("--tools", type=click.File("rb"), help="JSON list of tools: name, description, parameters.")
@click.option("--system", default=None, help="System prompt that replaces the one of the conversation.")
@click.option("--thinking/--no-thinking", default=None, help="Turn thinking on or off.")
@click.option("--effort", default=None, help="How hard to think: none … max.")
@click.option("--max-tokens", type=int, default=None, help="Limit of the answer, in tokens.")
@click.option("--tool-choice", default=None, help="auto, none, required, or a tool's name.")
@click.option("--stream/--no-stream", default=None, help="Turn streaming on or off.")
@click.option(
    "--foreign-thinking",
    type=click.Choice(["omit", "as_text"]),
    default="omit",
    show_default=True,
    help="What to do with the thinking of other models.",
)
@click.option(
    "--option",
    "words",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option, such as temperature=0.2.",
)
@click.option("--base-url", default="", help="Base URL of the API.")
@click.option("--project", default="", help="Project that pays, for gemini@oauth (Code Assist).")
@click.option("--envelope", is_flag=True, help="Print method, url and headers around the body.")
@click.option("--report", type=click.File("w"), help="Write the full report to this file, as JSON.")
def render_command(
    conversation: Any,
    source: str,
    target: str,
    origin: str | None,
    tools: Any,
    system: str | None,
    envelope: bool,
    report: Any,
    words: tuple[str, ...],
    **options: Any,
) -> None:
    """Print a request body that the target accepts; changes are reported on stderr.

    Reads CONVERSATION (a file, or stdin): a list of messages or a whole request body. The
    options of a body (limits, tools, a schema of the answer …) are kept for the target; an
    option given here overrides them.

        turnout render --from openai-chat --to anthropic:claude-sonnet-5 conversation.json
    """
    if not Origin.parse(target).model:
        raise UsageError(f"--to {target}: name a model too, as in {target}:MODEL")
    read = read_request(conversation.read(), format=source, origin=origin)
    given = {name: option for name, option in options.items() if option is not None}
    given = {"stream": read.stream, **given, **parse_options(words)}
    specs = None if tools is None else _read_tools(tools.read())
    request = rendered(read.history, target, tools=specs, system=system, options=read.options, **given)
    made = request.report
    found = [_diagnostic_line(item) for item in read.history.diagnostics]
    for line in (*found, *_dropped_lines(read), *_report_lines(made)):
        click.echo(printable(line), err=True)
    if report is not None:
        json.dump(value(made), report, indent=2)
    if envelope:
        shown = {"method": request.method, "url": request.url, "headers": request.headers}
        click.echo(json_line(json.dumps({**shown, "body": request.json}, ensure_ascii=False)))
    else:
        click.echo(json_line(request.body.decode()) if sys.stdout.isatty() else request.body)


def _read_tools(text: bytes) -> list[Any]:
    try:
        listed = loads(text)
    except ValueError as error:
        raise UsageError(
            f"--tools is not JSON: {error}; give [{{name, description, parameters}}, …]"
        ) from None
    if not isinstance(listed, list):
        raise UsageError("--tools is not a list; give [{name, description, parameters}, …]")
    return listed


def _diagnostic_line(item: Any) -> str:
    return " ".join(part for part in (item.code, item.call_id, item.detail) if part)


def _dropped_lines(read: InboundRequest) -> list[str]:
    return [f"dropped {line}" for line in read.dropped]


def _report_lines(report: Report) -> list[str]:
    lines = [f"synthetic {item.call_id} {item.status} {item.reason}" for item in report.synthetic]
    lines += [_diagnostic_line(item) for item in report.diagnostics if item.code not in REPORTED_ELSEWHERE]
    return lines + list(report.changes)
