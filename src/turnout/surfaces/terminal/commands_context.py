"""/context: what fills the context, and the system prompt itself. /init: a prompt that writes AGENTS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import UsageError
from ...model import Media, ModelTurn, Thinking, ToolCall, UserTurn, block_text
from ...plain import dumps
from ...session.context_size import CHARACTERS_PER_TOKEN
from ...session.excerpt import outcomes_of
from ..shared.bars import bars
from ..shared.system_prompt import system_parts
from .pieces import Notice
from .status_line import token_count

if TYPE_CHECKING:
    from ...session.session import Session
    from .talk import Talk

INIT = """\
Write a file AGENTS.md at the top of this folder: instructions for coding agents that work here.
First look: the overview, the README, the manifests, the Makefile or scripts, the CI files, some sources and \
tests. Then write at most 60 lines: what the project is (two sentences), how to set up, build, test and lint \
(the exact commands, and how to run one test), how the folders are arranged, the conventions that the code \
shows, and what must not be touched. State only what you have seen. Leave out what every developer knows."""
INIT_AGAIN = """\
{path} is there already. Read it, look at the project, and improve it: mend what is wrong or out of date, \
add what is missing, remove what says nothing. Keep what the authors wrote on purpose, and keep it short."""


def show_context(talk: Talk, rest: str) -> None:
    """What the next request holds, by kind; `/context prompt` prints the system prompt."""
    session, parts = talk.session, system_parts(talk.config, talk.session.target)
    if rest in ("prompt", "system"):
        talk.edge.show(Notice(session.system, "plain"))
        return
    if rest:
        raise UsageError(f"/context {rest} is not known; write /context, or /context prompt")
    system = {f"system: {part.name}": len(part.text) for part in parts}
    if session.system != "\n\n".join(part.text for part in parts):
        system = {"system prompt": len(session.system)}
    sizes = {**system, **_tool_sizes(session), **_conversation_sizes(session)}
    tokens = {name: -(-size // CHARACTERS_PER_TOKEN) for name, size in sizes.items() if size}
    drawn = bars([(name, count, f"{count:,}") for name, count in tokens.items()], min(talk.edge.width, 80))
    used, window = session.compressor.used_tokens(), session.target.facts.context
    share = f"{min(used / window, 1):.0%} of {token_count(window)}" if window else "of an unknown window"
    talk.edge.show(
        Notice("\n".join((f"Context: about {used:,} tokens, {share}", *drawn)), "plain"),
        Notice("Counts by kind are estimates. /context prompt shows the system prompt."),
    )


def _tool_sizes(session: Session) -> dict[str, int]:
    """Characters of the declared tools: ours, and those of MCP servers."""
    sizes = {"tools": 0, "tools of MCP servers": 0}
    for spec in session.tool_specs():
        kind = "tools of MCP servers" if spec.name.startswith("mcp__") else "tools"
        sizes[kind] += len(spec.name) + len(spec.description) + len(dumps(spec.parameters))
    return sizes


def _conversation_sizes(session: Session) -> dict[str, int]:
    history = session.history
    names = ("your prompts", "answers", "thinking", "tool calls", "tool results", "images and files")
    sizes = {"summary": len(history.summary), **dict.fromkeys(names, 0)}
    for turn in history.turns:
        for block in turn.blocks:
            sizes[_kind_of(block, turn)] += len(block_text(block))
    results = outcomes_of(history, history.turns)
    sizes["tool results"] += sum(len(outcome.text) for outcome in results.values())
    return sizes


def _kind_of(block: object, turn: object) -> str:
    match block:
        case Thinking():
            return "thinking"
        case ToolCall():
            return "tool calls"
        case Media():
            return "images and files"
    return (
        "answers"
        if isinstance(turn, ModelTurn)
        else "your prompts"
        if isinstance(turn, UserTurn)
        else "summary"
    )


def write_agents_file(talk: Talk, rest: str) -> None:
    """Ask the model to write AGENTS.md, or to improve the one that is there."""
    there = talk.config.instructions_file
    prompt = INIT_AGAIN.format(path=there.name) if there is not None else INIT
    talk.prompt(f"{prompt}\n\n{rest}".strip())
