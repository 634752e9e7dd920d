"""What happens while tools run: states, progress and results, one set for every surface.

A call passes through states, may report progress while it executes, and ends with
exactly one `ToolResult`, sent after its outcome is on record.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from ...history.waiting import WaitingCall
from ...model import Outcome

State = Literal[
    "validating",
    "awaiting_approval",
    "scheduled",
    "executing",
    "complete",
    "error",
    "cancelled",
    "denied",
    "interrupted",
    "waiting",
]


class ToolWaiting(Struct, frozen=True, tag="tool_waiting"):
    """A call was handed out: it waits for an answer from outside, and stands in the store until then."""

    call: WaitingCall


class ToolState(Struct, frozen=True, tag="tool_state"):
    """A call reached a state; `detail` says why where that is not plain (what is asked, what was mended)."""

    call_id: str
    name: str
    state: State
    detail: str = ""


class ToolProgress(Struct, frozen=True, tag="tool_progress"):
    """How far a running tool is: a line of text, a fraction of one, or a piece of its output."""

    call_id: str
    text: str = ""
    fraction: float | None = None
    output: str = ""


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """What came of a call, once it is on record; `repaired` names what was put right in its arguments."""

    call_id: str
    name: str
    outcome: Outcome
    repaired: tuple[str, ...] = ()


ToolEvent: TypeAlias = ToolState | ToolProgress | ToolResult | ToolWaiting
"""What happens to the calls of a turn."""
