"""`turnout` and `turnout chat`: talk in the terminal."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ...world.secrets import Secrets
from ..shared.open_session import Wanted, configuration
from .debug_log import DebugLog
from .options import session_options


@click.command("chat")
@click.argument("prompt", required=False, default="")
@session_options
@click.option("--no-color", "--no-colour", is_flag=True, help="No colours (also: NO_COLOR).")
@click.option("--plain", is_flag=True, help="Lines in, lines out: for dumb terminals and screen readers.")
def chat_command(
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
    secrets = Secrets(config.environment)
    from ..terminal.start import converse  # prompt_toolkit is loaded for this command only

    session_id = asyncio.run(
        converse(asked, config, secrets, DebugLog(debug, secrets), prompt, no_color=no_color, plain=plain)
    )
    if session_id:
        click.echo(f"turnout -r {session_id}  goes on with this session", err=True)
