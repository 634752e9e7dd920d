"""Slash commands: the table of them, and how one is found and run.

A command is a function of the conversation and of the text after its name. Commands marked
`idle` change the conversation itself, so they are refused while a reply is running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from ...errors import TurnoutError
from ...tools.policy.rules import MODES
from ..shared.clean_text import printable
from .commands_context import show_context, write_agents_file
from .commands_login import login_names, sign_in_here
from .commands_mcp import manage_mcp_servers, mcp_choices
from .commands_model import model_names, provider_names, switch_model, switch_provider
from .commands_rewind import rewind_last, rewind_session
from .commands_session import (
    compact_history,
    copy_last_answer,
    export_conversation,
    fork_session,
    resume_session,
    session_ids,
    start_new_session,
)
from .commands_status import (
    manage_permissions,
    show_diagnosis,
    show_stats,
    show_status,
    show_tools,
    switch_theme,
)
from .pieces import Notice, Rows
from .theme import THEMES

if TYPE_CHECKING:
    from .talk import Talk

Action: TypeAlias = Callable[["Talk", str], None]
Choices: TypeAlias = Callable[["Talk"], Iterable[str]]


class SlashCommand(Struct, frozen=True):
    """One command: what it does, in one line, and the arguments it takes."""

    help: str
    run: Action
    takes: str = ""
    choices: Choices | None = None
    idle: bool = False


def run_slash_command(talk: Talk, text: str) -> None:
    """Run `/name arguments`; for an unknown name, suggest the nearest ones."""
    name, _, rest = text[1:].partition(" ")
    rest = rest.strip()
    if (command := find_command(name)) is not None:
        if command.idle and not talk.idle():
            return
        try:
            command.run(talk, rest)
        except (TurnoutError, OSError) as error:
            talk.edge.show(Notice(printable(talk.secrets.hide(str(error))), "bad"))
    elif (own := talk.user_commands.get(name)) is not None:
        talk.prompt(own.prompt_with(rest))
    else:
        near = get_close_matches(name, [*COMMANDS, *talk.user_commands], n=2)
        meant = f" Did you mean {' or '.join('/' + one for one in near)}?" if near else " /help lists them."
        talk.edge.show(Notice(f"/{printable(name)} is not a command.{meant}", "warn"))


KEYS = (
    ("enter", "send; while tools run the prompt is queued and sent after them"),
    ("alt+enter, ctrl+j, \\ enter", "a new line"),
    ("@path", "attach a file (tab completes)"),
    ("!command", "run a command yourself; the model sees it with your next prompt"),
    ("shift+tab", "next approval mode: " + ", ".join(mode for mode in MODES if mode != "full")),
    ("esc", "interrupt; ctrl+c clears the line, then quits; ctrl+d quits"),
    ("esc esc", "clear the line, or go back to an earlier prompt"),
    ("ctrl+r, up", "search and browse earlier prompts"),
    ("ctrl+o", "open what is folded: long results and changes, thinking"),
    ("ctrl+t", "show thinking from now on, or fold it"),
    ("ctrl+g", "write the prompt in your editor ($VISUAL, $EDITOR)"),
    ("ctrl+v, drop", "attach an image from the clipboard, or a file dropped on the terminal"),
)
PLAIN_KEYS = (
    ("enter", "send"),
    ("@path", "attach a file"),
    ("!command", "run a command yourself; the model sees it with your next prompt"),
    ("ctrl+c", "interrupt, then quit; ctrl+d quits"),
)
"""What works where lines are read and printed."""


def find_command(name: str) -> SlashCommand | None:
    """The command of this name, or of another name that people know it by."""
    return COMMANDS.get(ALIASES.get(name, name))


def command_names() -> Iterable[tuple[str, SlashCommand]]:
    """Every name with its command; other names after the first one."""
    for name, command in COMMANDS.items():
        yield name, command
    for other, name in ALIASES.items():
        yield other, COMMANDS[name]


def _show_help(talk: Talk, rest: str) -> None:
    also = {name: [other for other, meant in ALIASES.items() if meant == name] for name in COMMANDS}
    rows = [
        (", ".join(f"/{each}" for each in (name, *also[name])) + f" {one.takes}".rstrip(), one.help)
        for name, one in COMMANDS.items()
        if one.help
    ]
    own = [(f"/{name}", one.description) for name, one in talk.user_commands.items()]
    talk.edge.show(Rows(tuple(rows), "Commands"))
    if own:
        talk.edge.show(Rows(tuple(own), "Your commands"))
    talk.edge.show(Rows(KEYS if talk.edge.has_keys else PLAIN_KEYS, "Keys"))


def _show_jobs(talk: Talk, rest: str) -> None:
    lines = [printable(line) for line in talk.background_lines()]
    talk.edge.show(Notice("\n".join(lines) or "No command runs in the background."))


def _permission_words(talk: Talk) -> Iterable[str]:
    return (*MODES, "revoke")


COMMANDS: dict[str, SlashCommand] = {
    "help": SlashCommand("show commands and keys", _show_help),
    "model": SlashCommand("choose who answers, at any turn", switch_model, "[NAME]", model_names),
    "login": SlashCommand("sign in to a provider with a key", sign_in_here, "[PROVIDER]", login_names),
    "provider": SlashCommand("show or switch the provider", switch_provider, "[NAME]", provider_names),
    "clear": SlashCommand("start a new session", start_new_session, idle=True),
    "compact": SlashCommand("summarise old turns to free context", compact_history, idle=True),
    "resume": SlashCommand("resume another session", resume_session, "[ID]", session_ids, idle=True),
    "fork": SlashCommand("continue in a copy of this session", fork_session, idle=True),
    "rewind": SlashCommand("go back to an earlier prompt", rewind_session, "[N]", idle=True),
    "undo": SlashCommand("", rewind_last, idle=True),
    "context": SlashCommand("show what fills the context, and the system prompt", show_context, "[prompt]"),
    "init": SlashCommand("have the model write AGENTS.md for this project", write_agents_file, idle=True),
    "open": SlashCommand("show what was folded, the last first", lambda talk, rest: talk.open_folded()),
    "export": SlashCommand("write the conversation to a file", export_conversation, "[FILE]"),
    "copy": SlashCommand("copy the last answer", copy_last_answer),
    "jobs": SlashCommand("list the commands that run in the background", _show_jobs),
    "tools": SlashCommand("list the tools and their risk", show_tools),
    "mcp": SlashCommand(
        "show MCP servers, trust or restart one", manage_mcp_servers, "[trust NAME]", mcp_choices
    ),
    "permissions": SlashCommand(
        "show the rules, revoke one, or set the approval mode",
        manage_permissions,
        "[MODE | revoke N]",
        _permission_words,
    ),
    "status": SlashCommand("show this session: model, context, cost", show_status),
    "stats": SlashCommand("show tokens and tool counters of this session", show_stats),
    "diagnose": SlashCommand("check history, rendering and request for this model", show_diagnosis),
    "theme": SlashCommand("change the colours", switch_theme, "[NAME]", lambda talk: THEMES),
    "quit": SlashCommand("quit", lambda talk, rest: talk.edge.leave()),
}

ALIASES = {
    "new": "clear",
    "sessions": "resume",
    "cost": "stats",
    "exit": "quit",
}
"""Names that people know from other programs."""
