"""The `turnout` command. Each subcommand has its own file, which is loaded when it is used.

Without a subcommand `chat` runs: `turnout -c` is `turnout chat -c`. A sentence in place of a
subcommand is the first prompt. With -p among the options `run` does: `turnout -p "Say hello"`.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.exceptions import Exit

from ... import __version__
from ...errors import TurnoutError
from ..shared.extras import missing_extra
from .pipes import discard_output, is_unread

COMMANDS = {
    "chat": "chat",
    "run": "run",
    "batch": "batch",
    "login": "login",
    "logout": "login",
    "config": "config",
    "models": "models",
    "providers": "providers",
    "probe": "probe",
    "sessions": "sessions",
    "import": "import_session",
    "doctor": "doctor",
    "rescue": "rescue",
    "stats": "stats",
    "sandbox": "sandbox",
    "demo": "demo",
    "simulate": "simulate",
    "serve": "serve",
    "launch": "launch",
    "view": "view",
    "render": "render",
    "check": "check",
    "decode": "decode",
    "completion": "completion",
    "update": "update",
    "worker": "workers",
    "submit": "workers",
    "runs": "workers",
    "cancel": "workers",
}

SECTIONS = {
    "Chat": {
        "chat": "Chat in the terminal; the default command.",
        "run": "Ask once and print the answer: for scripts and pipes.",
        "batch": "Put many prompts to many models, into a file that can be resumed.",
    },
    "Sessions": {
        "sessions": "List, search, rename, fork, export and delete sessions.",
        "rescue": "Find stuck sessions of other agents in this folder, and resume one.",
        "import": "Import a session of another program.",
        "doctor": "Find what is wrong with a session, and write a repaired copy.",
        "view": "Show conversations, requests and costs in a browser.",
        "stats": "Show usage and cost over time, by provider.",
    },
    "Other programs": {
        "serve": "Serve the OpenAI, Anthropic and Gemini APIs with any provider behind them.",
        "launch": "Start Claude Code, Codex or another client behind the gateway.",
    },
    "Several machines": {
        "worker": "Finish submitted prompts; start as many as you like, on any machine.",
        "submit": "Have a worker say a prompt, now, later or again and again.",
        "runs": "List submitted prompts and what came of them.",
        "cancel": "Cancel a run, on whatever machine it is.",
    },
    "Setup": {
        "login": "Sign in to a provider: try a key and keep it, or GitHub Copilot by a code.",
        "logout": "Delete a stored account and its key.",
        "config": "Show the settings and where each comes from; trust a project's files.",
        "models": "List the known models with their prices.",
        "providers": "Show which API keys and accounts there are; test them with --check.",
        "probe": "Find out how to speak to an unknown server.",
        "sandbox": "Show what confines files and commands here, with proof.",
        "completion": "Print shell completion for bash, zsh or fish.",
        "update": "Say how to update this installation.",
    },
    "Conversations as data": {
        "render": "Print a conversation as a request that a provider accepts.",
        "check": "List what a provider would refuse in a request, and why.",
        "decode": "Print a recorded reply as events.",
    },
    "Without an API key": {
        "demo": "Show one conversation that goes through every provider.",
        "simulate": "Simulate every provider on this machine, strictly.",
    },
}


class Commands(click.Group):
    """A group that imports the file of a command only when that command or its help is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if (home := COMMANDS.get(name)) is None:
            return None
        command: click.Command = getattr(import_module(f".{home}", __name__), f"{name}_command")
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing and _is_talk(args):
            args = ["run" if _asks_once(args) else "chat", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"To send it as a prompt: turnout chat {args[0]}"
            raise click.UsageError(f"{error.message} {hint} See `turnout --help`.", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by purpose. No file of a command is imported for this."""
        listed = {name for section in SECTIONS.values() for name in section}
        others = {name: "" for name in COMMANDS if name not in listed}
        for title, commands in {**SECTIONS, "More": others}.items():
            rows = [(name, text) for name, text in commands.items() if name in COMMANDS]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)  # prints the help if it is asked for
        except OSError as error:
            _end_if_unread(error)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # here a failed write still has its meaning; at exit it has none
            return result
        except TurnoutError as error:
            from ...world.secrets import Secrets
            from ..shared.clean_text import printable
            from .exit_codes import code_of

            click.echo(printable(Secrets(os.environ).hide(f"turnout: {error}")), err=True)
            ctx.exit(code_of(error))
        except ModuleNotFoundError as error:
            if not (advice := missing_extra(error)):
                raise
            click.echo(f"turnout: {advice}", err=True)
            ctx.exit(2)
        except OSError as error:
            _end_if_unread(error)
            click.echo(f"turnout: {error}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(130)


def _end_if_unread(error: OSError) -> None:
    """`… | head -1`: the reader has all it wants, so end with success."""
    if isinstance(error, BrokenPipeError) and is_unread(sys.stdout, sys.stderr):
        discard_output(sys.stdout, sys.stderr)
        raise Exit(0)


def _is_talk(args: list[str]) -> bool:
    """Whether these arguments are for `chat`: none at all, its options, or a sentence."""
    if not args:
        return True
    first = args[0]
    if first.startswith("-"):
        return first not in ("-h", "--help", "--version")
    return first not in COMMANDS and any(letter.isspace() for letter in first)


def _asks_once(args: list[str]) -> bool:
    """Whether -p is among the options: one prompt, one answer, as in other agents."""
    options = args[: args.index("--")] if "--" in args else args
    return any(each in ("-p", "--prompt", "--print") or each.startswith("--prompt=") for each in options)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnout")
def main() -> None:
    """Chat with LLMs and tools, and change provider at any turn.

    \b
    Start here:
      turnout                       chat in this folder, with the API key in your environment
      turnout -m kimi-k3            … with that model; /model switches at any turn
      turnout -c                    … and resume the latest session
      turnout -r                    … choose one of the earlier sessions
      turnout -p "Say hello"        one question, one answer
      turnout demo                  see it work, without a key

    `turnout COMMAND --help` explains each command with examples.
    """
