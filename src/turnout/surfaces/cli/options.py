"""The options that `turnout` and `turnout run` share, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Dollars(click.FloatRange):
    """A sum that can be compared with another: `nan` is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        amount = super().convert(value, param, ctx)
        return self.fail(f"{value} is no sum", param, ctx) if amount != amount else amount


SESSION = (
    click.option("-m", "--model", default="", help="provider:model, or a name from the configuration."),
    click.option(
        "--fallback", multiple=True, help="Another model to go on with when the first one fails; repeatable."
    ),
    click.option("-c", "--continue", "continues", is_flag=True, help="Go on with the latest session."),
    click.option("-r", "--resume", default="", metavar="ID", help="Go on with that session."),
    click.option(
        "--fork", is_flag=True, help="With -c or -r: leave that session as it is, go on with a copy."
    ),
    click.option(
        "--approval-mode",
        "approval",
        type=click.Choice(["ask", "auto-edit", "plan", "full"]),
        default=None,
        help="What runs without a question: only reading, edits too, nothing but reading, everything.",
    ),
    click.option("--allow", multiple=True, help="Allow a tool, or tool(pattern); repeatable."),
    click.option("--deny", multiple=True, help="Deny a tool, or tool(pattern); repeatable."),
    click.option(
        "--network", is_flag=True, default=None, help="Let commands in the sandbox reach the network."
    ),
    click.option(
        "--max-turns", type=click.IntRange(1), default=None, help="Rounds of tool calls at the most."
    ),
    click.option("--max-budget-usd", "max_cost", type=Dollars(0), default=None, help="Spend no more."),
    click.option("--system", default="", help="System text in place of ours."),
    click.option(
        "--foreign-thinking",
        type=click.Choice(["omit", "as_text"]),
        default=None,
        help="What becomes of the thinking of other models: left out, or handed on as text.",
    ),
    click.option("--cwd", "folder", default="", help="The folder to work in."),
    click.option("--profile", default="", help="A profile of the configuration."),
    click.option("--base-url", default="", help="Another address of the model's API."),
    click.option(
        "--debug",
        type=click.Path(dir_okay=False),
        default=None,
        help="Append requests, reports and statuses to this file, without secrets.",
    ),
    click.option("--no-store", is_flag=True, help="Keep nothing of this session."),
)


def session_options(command: F) -> F:
    """Every option that says how a session is opened."""
    for option in reversed(SESSION):
        command = option(command)
    return command
