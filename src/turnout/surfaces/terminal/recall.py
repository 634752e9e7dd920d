"""The last turns of a resumed session, as pieces."""

from __future__ import annotations

from collections.abc import Iterator

from ...history.log import History
from ...model import ModelTurn, Text, Thinking, ToolCall, UserTurn, joined_text
from ..shared.clean_text import printable
from .blocks import Blocks
from .calls import CallOnScreen
from .pieces import Notice, Piece, UserWords

TURNS = 12


def recalled_pieces(history: History, turns: int = TURNS) -> Iterator[Piece]:
    """The last turns as they were shown, without thinking."""
    shown = history.turns[-turns:]
    hidden = len(history.turns) - len(shown)
    if history.summary:
        yield Notice("The beginning was summarised.")
    if hidden:
        yield Notice(f"{hidden} earlier turns are not shown.")
    for turn in shown:
        if isinstance(turn, UserTurn):
            yield UserWords(joined_text(turn.blocks[:1]))
        elif isinstance(turn, ModelTurn):
            yield from _reply_pieces(turn, history)


def _reply_pieces(turn: ModelTurn, history: History) -> Iterator[Piece]:
    for block in turn.blocks:
        match block:
            case Text(text):
                blocks = Blocks()
                yield from (*blocks.feed(printable(text)), *blocks.close())
            case ToolCall(id, name):
                call = CallOnScreen(name, 0.0)
                call.arguments = block.arguments
                if (outcome := history.interaction(id).outcome) is not None:
                    call.set_outcome(outcome, 0.0)
                if call.used is not None:
                    yield call.used
            case Thinking():
                continue
