"""`turnout` and `turnout chat`: talk in the terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from io import TextIOWrapper
from typing import Any

import click

from ... import __version__
from ...errors import UsageError
from ...world.config import Config
from ...world.places import private_folder
from ...world.secrets import Secrets
from .clean_text import visible
from .debug_log import Debug
from .open_session import Wanted, configuration, unconfined
from .options import session_options


@click.command()
@click.argument("prompt", required=False, default="")
@session_options
@click.option("--no-color", "--no-colour", is_flag=True, help="No colours (also: NO_COLOR).")
@click.option("--plain", is_flag=True, help="Lines in, lines out: for dumb terminals and screen readers.")
def chat(
    prompt: str,
    no_color: bool,
    plain: bool,
    debug: str | None,
    no_store: bool,
    approval: str | None,
    **wanted: Any,
) -> None:
    """Talk in the terminal. PROMPT is said first, if it is given.

    The model answers with the tools of this folder. Reading is free; before anything is
    changed or run you are asked, with the whole command or the whole change in view. Esc
    interrupts at any time, and the conversation can go on. /model changes who answers, in
    mid conversation. /help tells the rest.

    \b
    Examples:
      turnout "What does this project do?"
      turnout -m anthropic:claude-sonnet-4-5 --fallback openai:gpt-5.1
      turnout -c                                   go on with the latest session
      turnout -r s1f0c --fork                      go on with a copy of one
    """
    asked = Wanted(approval=approval or "", stored=not no_store, **wanted)
    config = configuration(asked)
    asyncio.run(_converse(asked, config, debug, prompt, no_color, plain))


async def _converse(
    wanted: Wanted, config: Config, debug: str | None, prompt: str, no_color: bool, plain: bool
) -> None:
    from ..terminal.opener import Opener
    from ..terminal.talk import Talk
    from ..terminal.user_commands import user_commands

    secrets = Secrets(config.environment)
    opener = Opener(wanted, config, Debug(debug, secrets))
    try:
        talk = Talk(opener, wanted.model, secrets)
    except BaseException:
        await opener.close()
        raise
    talk.user_commands = user_commands(config)
    edge = _edge(talk, no_color, plain)
    _greet(talk)
    talk.start_servers()
    await edge.run(prompt)
    if talk.opener.store is not None and talk.session.history.turns:
        click.echo(f"turnout -r {talk.session.id}  goes on with this session", err=True)


def _edge(talk: Any, no_color: bool, plain: bool) -> Any:
    from ..terminal.theme import theme

    settings, stdin, stdout = talk.config.settings, sys.stdin, sys.stdout
    if stdin is None or stdout is None:
        raise UsageError("there is nothing to read from or to write to; `turnout run -p` needs neither")
    if isinstance(stdout, TextIOWrapper):
        stdout.reconfigure(errors="replace")  # a letter that the terminal does not know is no reason to end
    tty = stdin.isatty() and stdout.isatty()
    look = theme("mono" if no_color else settings.theme, os.environ, tty=tty, encoding=stdout.encoding)
    if plain or not tty or os.environ.get("TERM", "dumb") == "dumb":
        from ..terminal.plain import Plain

        return Plain(talk, look, stdin, stdout)
    from ..terminal.terminal import Terminal

    return Terminal(talk, look, _said_before(talk.config, talk.opener.store is not None), stdout)


def _said_before(config: Config, kept: bool) -> Any:
    """What the user typed in earlier conversations, for searching; a file only they can read."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if not kept:
        return InMemoryHistory()
    path = private_folder(config.places.state) / "said"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    return FileHistory(str(path))


def _greet(talk: Any) -> None:
    from ..terminal.pieces import Notice

    edge, config = talk.edge, talk.config
    edge.show(
        Notice(f"turnout {__version__}, {talk.session.target.origin}, in {visible(str(config.folder))}")
    )
    for path in config.untrusted:
        edge.show(
            Notice(f"{visible(str(path))} is not trusted and has no effect: turnout config --trust", "warn")
        )
    if openly := unconfined(talk.session):
        edge.show(Notice(openly, "warn"))
    talk.recall()
