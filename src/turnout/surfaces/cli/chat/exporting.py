"""A conversation as Markdown, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ....history.log import History
from ....model import ModelTurn, Text, ToolCall, UserTurn, joined_text
from ....plain import dumps


def as_markdown(history: History) -> str:
    """Everything that was said and what tools gave back."""
    return "\n\n".join([f"# {history.key}", *_parts(history)]) + "\n"


def _parts(history: History) -> Iterator[str]:
    for turn in history.turns:
        if isinstance(turn, UserTurn):
            yield f"## You\n\n{joined_text(turn.blocks)}"
        elif isinstance(turn, ModelTurn):
            yield f"## {turn.origin}"
            yield from _replied(turn, history)


def _replied(turn: ModelTurn, history: History) -> Iterator[str]:
    for block in turn.blocks:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, ToolCall):
            outcome = history.interaction(block.id).outcome
            status, text = (outcome.status, outcome.text) if outcome else ("pending", "")
            yield f"**{block.name}** `{dumps(block.arguments)}` ({status})\n\n{_fenced(text)}"


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
