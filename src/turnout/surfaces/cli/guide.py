"""The guide of the first minute, in a terminal: `turnout` without a model opens it."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from ...world.config import Misconfigured
from ..shared.open_session import SessionArguments

if TYPE_CHECKING:
    from ...world.config import Config
    from ..shared.first_guide import GuideResult


def needs_guide(asked: SessionArguments, config: Config) -> bool:
    """Whether no model is set up yet, and a person is there to choose."""
    if asked.model or asked.continues or asked.resume or not (sys.stdin and sys.stdin.isatty()):
        return False
    try:
        return not config.default_model()
    except Misconfigured:
        return sys.stdout.isatty()


def run_guide(config: Config) -> GuideResult:
    """Ask in the terminal who answers."""
    from ..shared.first_guide import FirstGuide
    from ..shared.wrapped_text import wrap_for_terminal

    def run_demo() -> None:
        from . import main

        main.main(["demo"], prog_name="turnout", standalone_mode=False)

    def ask_line(label: str) -> str:
        return str(click.prompt(label, prompt_suffix="", default="", show_default=False))

    def store_session(number: int) -> str:
        from ...interchange.rescue import rescue_cases
        from .rescue import store_case

        return store_case(rescue_cases(config.folder, config.environment)[number - 1])

    guide = FirstGuide(
        config.folder,
        config.environment,
        write=lambda text: click.echo(wrap_for_terminal(text)),
        ask=ask_line,
        run_demo=run_demo,
        store_session=store_session,
    )
    return asyncio.run(guide.run())
