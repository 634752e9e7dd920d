"""todo: the model's list of steps, kept for the session and shown to the user."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...model import Outcome
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool

LIST = "todo.items"  # the key of the list in the session's state
MOST = 100
_MARKS = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]"}


class Item(Struct, frozen=True):
    """One thing to do."""

    text: str
    status: Literal["pending", "in_progress", "done"] = "pending"


@tool(risk="read", retry_safe=True, paths=(), groups=("planning",), source="model")
def todo(ctx: ToolContext, items: list[Item]) -> Outcome | str:
    """Keep a list of steps for work that has several. Each call replaces the whole list.

    Args:
        items: Every step in order, each with its text and status: pending, in_progress or done.
    """
    if len(items) > MOST:
        return error_outcome(f"{len(items)} steps are too many to follow; keep at most {MOST}.")
    if any(not item.text.strip() for item in items):
        return error_outcome("A step has no text. Say what is to be done in each.")
    ctx.state[LIST] = items
    if not items:
        return "The list is empty."
    done = sum(item.status == "done" for item in items)
    lines = [f"{_MARKS[item.status]} {' '.join(item.text.split())}" for item in items]
    return "\n".join([*lines, f"{done} of {len(items)} done"])
