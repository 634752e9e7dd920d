"""Slash commands: the table of them, and how one is found and run.

A command is a function of the conversation and of what follows its name. Those marked
`idle` change the conversation itself and wait until nothing is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from ...errors import TurnoutError
from ...tools.policy.rules import MODES
from ..shared.clean_text import printable
from . import commands_mcp as mcp
from . import commands_session as moving
from . import commands_status as about
from .pieces import Notice, Rows
from .theme import THEMES

if TYPE_CHECKING:
    from .talk import Talk

Action: TypeAlias = Callable[["Talk", str], None]
Choices: TypeAlias = Callable[["Talk"], Iterable[str]]


class Command(Struct, frozen=True):
    """One command: what it does in a line, and what may follow it."""

    help: str
    run: Action
    takes: str = ""
    choices: Choices | None = None
    idle: bool = False


def run_command(talk: Talk, text: str) -> None:
    """Run `/name what follows`; a name that is not known gets the nearest ones."""
    name, _, rest = text[1:].partition(" ")
    rest = rest.strip()
    if (command := COMMANDS.get(name)) is not None:
        if command.idle and not talk.idle():
            return
        try:
            command.run(talk, rest)
        except (TurnoutError, OSError) as error:
            talk.edge.show(Notice(printable(talk.secrets.hide(str(error))), "bad"))
    elif (own := talk.user_commands.get(name)) is not None:
        talk.prompt(own.said(rest))
    else:
        near = get_close_matches(name, [*COMMANDS, *talk.user_commands], n=2)
        meant = f" Did you mean {' or '.join('/' + one for one in near)}?" if near else " /help lists them."
        talk.edge.show(Notice(f"There is no command /{printable(name)}.{meant}", "warn"))


KEYS = (
    ("enter", "say it; while tools run it is queued and said after them"),
    ("alt+enter, ctrl+j, \\ enter", "a new line"),
    ("@path", "put a file behind your words (tab completes)"),
    ("!command", "run a command yourself; the model is told with your next words"),
    ("shift+tab", "next approval mode: " + ", ".join(mode for mode in MODES if mode != "full")),
    ("esc", "interrupt; ctrl+c clears the line, then quits; ctrl+d quits"),
    ("ctrl+r, up", "search, and walk through, what you said before"),
    ("ctrl+t", "show or fold thinking"),
)


def _help(talk: Talk, rest: str) -> None:
    rows = [(f"/{name} {one.takes}".rstrip(), one.help) for name, one in COMMANDS.items()]
    own = [(f"/{name}", one.description) for name, one in talk.user_commands.items()]
    talk.edge.show(Rows(tuple(rows), "Commands"))
    if own:
        talk.edge.show(Rows(tuple(own), "Your commands"))
    talk.edge.show(Rows(KEYS, "Keys"))


def _modes(talk: Talk) -> Iterable[str]:
    return (*MODES, "revoke")


COMMANDS: dict[str, Command] = {
    "help": Command("what can be typed here", _help),
    "model": Command("show or switch the model, at any turn", moving.model, "[NAME]", moving.models),
    "provider": Command("show or switch the provider", moving.provider, "[NAME]", moving.providers),
    "clear": Command("begin a new session", moving.clear, idle=True),
    "compact": Command("make room: summarise what is old", moving.compact, idle=True),
    "resume": Command("go on with another session", moving.resume, "[ID]", moving.sessions, idle=True),
    "fork": Command("go on with a copy of this session", moving.fork, idle=True),
    "undo": Command("take back your last words and all that followed", moving.undo, idle=True),
    "export": Command("write the conversation to a file", moving.export, "[FILE]"),
    "copy": Command("copy the last answer", moving.copy),
    "tools": Command("the tools and their risk", about.tools),
    "mcp": Command("MCP servers: how they stand, which are trusted", mcp.mcp, "[trust NAME]", mcp.choices),
    "permissions": Command(
        "show the rules, take one back, or set the mode", about.permissions, "[MODE | revoke N]", _modes
    ),
    "status": Command("this session at a glance", about.status),
    "stats": Command("tokens, cost and tool counters of this session", about.stats),
    "diagnose": Command("check history, rendering and request for this model", about.diagnosed),
    "theme": Command("colours", about.theme, "[NAME]", lambda talk: THEMES),
    "quit": Command("leave", lambda talk, rest: talk.edge.leave()),
}
