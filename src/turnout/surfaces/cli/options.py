"""The options that `turnout` and `turnout run` share, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..shared.open_session import CHOOSE
from .value_completion import complete_models, complete_profiles, complete_sessions

F = TypeVar("F", bound=Callable[..., Any])


class Dollars(click.FloatRange):
    """An amount of money. `nan` is refused, since it cannot be compared."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        amount = super().convert(value, param, ctx)
        return (
            self.fail(f"{value} is not an amount; give a number of dollars", param, ctx)
            if amount != amount
            else amount
        )


SESSION = (
    click.option(
        "-m",
        "--model",
        default="",
        shell_complete=complete_models,
        help="The model: gpt-5.2, openai/gpt-5.2, openai:gpt-5.2, or a name from the configuration.",
    ),
    click.option("--fallback", multiple=True, help="Model to use when the one before it fails; repeatable."),
    click.option(
        "--fallback-on",
        multiple=True,
        type=click.Choice(["content_filter", "refusal", "empty"]),
        help="Use the fallback after such an answer too; repeatable.",
    ),
    click.option("-c", "--continue", "continues", is_flag=True, help="Resume this folder's latest session."),
    click.option(
        "-r",
        "--resume",
        default="",
        shell_complete=complete_sessions,
        is_flag=False,
        flag_value=CHOOSE,
        metavar="[ID]",
        help="Resume this session; without an ID, choose one.",
    ),
    click.option(
        "--fork", is_flag=True, help="With -c or -r: resume a copy, and leave the session unchanged."
    ),
    click.option(
        "--approval-mode",
        "approval",
        type=click.Choice(["ask", "auto-edit", "plan", "full"]),
        default=None,
        help="Runs without a question: ask: reading; auto-edit: edits too; plan: only reading; full: all.",
    ),
    click.option("--allow", multiple=True, help="Allow a tool, or tool(pattern); repeatable."),
    click.option("--deny", multiple=True, help="Deny a tool, or tool(pattern); repeatable."),
    click.option(
        "--network", is_flag=True, default=None, help="Allow commands in the sandbox to use the network."
    ),
    click.option(
        "--max-turns", type=click.IntRange(1), default=None, help="Maximum number of rounds of tool calls."
    ),
    click.option(
        "--max-budget-usd", "max_cost", type=Dollars(0), default=None, help="Stop when this much is spent."
    ),
    click.option("--system", default="", help="System prompt that replaces the default."),
    click.option(
        "--foreign-thinking",
        type=click.Choice(["omit", "as_text"]),
        default=None,
        help="What to do with the thinking of other models: leave it out, or send it as text.",
    ),
    click.option(
        "--option",
        multiple=True,
        metavar="NAME=VALUE",
        help="Option of every request, such as temperature=0.2 or cache_ttl=1h; repeatable.",
    ),
    click.option("--cwd", "folder", default="", help="Work in this folder."),
    click.option(
        "--profile",
        default="",
        shell_complete=complete_profiles,
        help="Use this profile of the configuration.",
    ),
    click.option("--base-url", default="", help="Base URL of the model's API."),
    click.option(
        "--debug",
        type=click.Path(dir_okay=False),
        default=None,
        help="Append requests, reports and statuses to this file, without secrets.",
    ),
    click.option("--no-store", is_flag=True, help="Do not store this session."),
)


def session_options(command: F) -> F:
    """Add every option that says how a session is opened."""
    for option in reversed(SESSION):
        command = option(command)
    return command
