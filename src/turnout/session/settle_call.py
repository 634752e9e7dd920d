"""Settle a call that no batch will settle."""

from __future__ import annotations

from collections.abc import Iterator

from ..history.log import History
from ..model import Outcome, ToolCall
from ..tools.declare.events import ToolEvent, ToolResult, ToolState


def settle_with_events(history: History, call: ToolCall, outcome: Outcome) -> Iterator[ToolEvent]:
    """Settle a call, and give the events that a batch would give."""
    history.settle(call.id, outcome)
    yield ToolState(call.id, call.name, outcome.status)
    yield ToolResult(call.id, call.name, outcome)
