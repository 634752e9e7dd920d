"""The turns that messages become, for the tests of each format."""

from __future__ import annotations

from typing import Any

from turnout.history.ingest import ingest
from turnout.model import ModelTurn


def blocks(messages: Any, form: str = "openai-chat", **given: Any) -> tuple[Any, ...]:
    """The blocks of the one turn that these messages make."""
    (turn,) = ingest(messages, form, **given).turns
    return turn.blocks


def reply(messages: Any, form: str = "openai-chat", **given: Any) -> ModelTurn:
    return next(turn for turn in ingest(messages, form, **given).turns if isinstance(turn, ModelTurn))


RESULT = {"role": "tool", "tool_call_id": "c1", "content": "x"}
