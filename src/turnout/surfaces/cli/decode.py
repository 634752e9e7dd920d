"""`turnout decode`: a recorded reply as events, or as the finished turn."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from ...providers import find_provider as provider
from ...targets.reply import ReplyReader, events
from ..shared.clean_text import json_line, printable


@click.command("decode")
@click.argument("reply", type=click.File("rb"), default="-")
@click.option("--api", required=True, help="The API of the reply: any provider or format, or provider:model.")
@click.option("--final", is_flag=True, help="Print the finished turn instead of the events.")
@click.option("--think-tags/--no-think-tags", default=None, help="Read <think> tags in the text as thinking.")
@click.option("--text-tools", is_flag=True, help="Read tool calls that the model wrote into its text.")
@click.option(
    "--turn-key", default="reply.1", show_default=True, help="The prefix from which ids of calls are made."
)
@click.pass_context
def decode_command(
    ctx: click.Context, /, reply: Any, api: str, final: bool, turn_key: str, **options: Any
) -> None:
    """Print the events of REPLY (a file, or stdin) as JSON lines.

    Server-sent events, JSON, JSON arrays and JSON lines are told apart by their bytes.

        turnout decode --api openai-responses reply.sse
    """
    provider(api.partition(":")[0].partition("@")[0])
    reader = ReplyReader(api if ":" in api else f"{api}:", turn_key, **options)
    for event in events(reader, [reply.read()]):
        if not final:
            click.echo(_json_of(event))
    if final:
        click.echo(_json_of(reader.reply.turn()))
    if (failure := reader.reply.failure) is not None:
        click.echo(printable(f"turnout: {failure.kind}: {failure}"), err=True)
        ctx.exit(1)


def _json_of(event: Any) -> str:
    return json_line(msgspec.json.encode(event).decode())
