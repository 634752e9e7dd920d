"""Starts a conversation in the terminal: chooses the edge that shows it, and greets."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any

from ... import __version__
from ...errors import UsageError
from ...world.config import Config
from ...world.places import private_folder
from ...world.secrets import Secrets
from ..shared.clean_text import visible
from ..shared.open_session import CHOOSE, SessionArguments, confinement_warning
from .commands_session import pick_session
from .opener import Opener
from .pieces import Notice
from .talk import Talk
from .theme import theme
from .user_commands import user_commands


async def converse(
    wanted: SessionArguments,
    config: Config,
    secrets: Secrets,
    debug: Callable[..., None],
    prompt: str,
    *,
    no_color: bool,
    plain: bool,
) -> str:
    """Run until the user leaves. Returns the id of the session if it can be resumed, else ""."""
    opener = Opener(wanted, config, debug)
    try:
        talk = Talk(opener, wanted.model, secrets)
    except BaseException:
        await opener.close()
        raise
    talk.user_commands = user_commands(config)
    edge = _edge(talk, no_color, plain)
    _show_greeting(talk)
    talk.start_servers()
    if wanted.resume == CHOOSE:
        asyncio.get_running_loop().call_soon(lambda: talk.begin(pick_session(talk, wanted.fork), quiet=True))
    await edge.converse(prompt)
    return talk.session.id if opener.store is not None and talk.session.history.turns else ""


def _edge(talk: Talk, no_color: bool, plain: bool) -> Any:
    """The full screen where there is a terminal that can draw it, else plain lines."""
    settings, stdin, stdout = talk.config.settings, sys.stdin, sys.stdout
    if stdin is None or stdout is None:
        raise UsageError(
            "stdin or stdout is closed, and a conversation needs both; use `turnout run -p PROMPT`"
        )
    if isinstance(stdout, TextIOWrapper):
        stdout.reconfigure(
            errors="replace"
        )  # a character that the terminal cannot show must not end the program
    tty = stdin.isatty() and stdout.isatty()
    look = theme("mono" if no_color else settings.theme, os.environ, tty=tty, encoding=stdout.encoding)
    if plain or not tty or os.environ.get("TERM", "dumb") == "dumb":
        from .plain import Plain

        return Plain(talk, look, stdin, stdout)
    from .terminal import Terminal

    return Terminal(talk, look, _prompt_history(talk.config, talk.opener.store is not None), stdout)


def _prompt_history(config: Config, kept: bool) -> Any:
    """Earlier prompts of the user, for searching, in a file that only they can read."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if not kept:
        return InMemoryHistory()
    path = private_folder(config.places.state) / "said"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    return FileHistory(str(path))


def _show_greeting(talk: Talk) -> None:
    """Where we are, what is not trusted or not confined, and the last turns of a resumed session."""
    edge, config = talk.edge, talk.config
    edge.show(
        Notice(f"turnout {__version__}, {talk.session.target.origin}, in {visible(str(config.folder))}")
    )
    for path in config.untrusted:
        edge.show(
            Notice(f"{visible(str(path))} is not trusted and has no effect: turnout config --trust", "warn")
        )
    if openly := confinement_warning(talk.session):
        edge.show(Notice(openly, "warn"))
    talk.recall()
