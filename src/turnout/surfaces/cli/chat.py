"""`turnout` and `turnout chat`: an interactive session in the terminal."""

from __future__ import annotations

import asyncio
from typing import Any

import click
from msgspec.structs import replace

from ...world.secrets import Secrets
from ..shared.open_session import SessionArguments, configuration
from .debug_log import DebugLog
from .guide import needs_guide, run_guide
from .options import session_options


@click.command("chat")
@click.argument("prompt", required=False, default="")
@session_options
@click.option("--no-color", "--no-colour", is_flag=True, help="Print no colours (also: NO_COLOR).")
@click.option(
    "--plain", is_flag=True, help="Read and print plain lines: for dumb terminals and screen readers."
)
def chat_command(
    prompt: str,
    no_color: bool,
    plain: bool,
    debug: str | None,
    no_store: bool,
    approval: str | None,
    **wanted: Any,
) -> None:
    """Chat in the terminal. PROMPT is sent first, if it is given.

    The model can use tools in this folder. Reading is allowed; before anything is changed
    or run you are asked, and the question shows the whole command or the whole change. Esc
    interrupts at any time, and the conversation stays valid. /model changes the model at any
    turn. /help lists the rest.

    \b
    Examples:
      turnout "What does this project do?"
      turnout -m anthropic:claude-sonnet-5 --fallback openai:gpt-5.2
      turnout -c                                   resume the latest session
      turnout -r s1f0c --fork                      resume a copy of a session
    """
    asked = SessionArguments(approval=approval or "", stored=not no_store, **wanted)
    config = configuration(asked)
    if needs_guide(asked, config):
        chosen = run_guide(config)
        if not chosen.model:
            return
        asked = replace(asked, model=chosen.model, resume=chosen.resume)
        config = configuration(asked)
    secrets = Secrets(config.environment)
    from ..terminal.start import converse  # prompt_toolkit is loaded for this command only

    session_id = asyncio.run(
        converse(asked, config, secrets, DebugLog(debug, secrets), prompt, no_color=no_color, plain=plain)
    )
    if session_id:
        click.echo(f"turnout -r {session_id}  resumes this session", err=True)
