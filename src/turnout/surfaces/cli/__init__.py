"""The `turnout` command. Each command lives in a file of its own and is loaded when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from ... import __version__
from ...errors import TurnoutError

COMMANDS = {
    "render": "requests",
    "run": "oneshot",
    "check": "requests",
    "decode": "replies",
    "demo": "demo",
    "simulate": "simulate",
}


class Commands(click.Group):
    """A group that imports a command's file only when that command is run or explained."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if (home := COMMANDS.get(name)) is None:
            return None
        command: click.Command = getattr(import_module(f".{home}", __name__), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TurnoutError as error:
            click.echo(f"turnout: {error}", err=True)
            ctx.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnout")
def main() -> None:
    """Conversations with tools that change provider at any turn and go on."""
