"""What happens in a session: the stream's events, the tools' events, and the session's own.

Every run ends with exactly one of `Complete`, `Failed`, `Cancelled` or `Waiting`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from ..errors import ProviderError, StreamError, TurnoutError
from ..history.waiting import WaitingCall
from ..model import ModelTurn, Origin, Usage
from ..streaming.events import StreamEvent
from ..tools.declare.events import ToolEvent

StatusKind = Literal[
    "sending",
    "retrying",
    "switched",
    "recovering",
    "compressing",
    "queued",
    "guard",
    "tools",
    "end_of_life",
]


class Status(Struct, frozen=True, tag="status"):
    """What the session is doing; `detail` is for people."""

    kind: StatusKind
    detail: str = ""
    target: Origin | None = None


class Discarded(Struct, frozen=True, tag="discarded"):
    """Take back what was shown of this reply: it broke, and is asked for again."""

    turn_key: str


class Nested(Struct, frozen=True, tag="nested"):
    """An event of a subagent, under the call that started it."""

    call_id: str
    event: Any


class Complete(Struct, frozen=True, tag="complete"):
    """The model has answered, and calls no more tools."""

    turn: ModelTurn
    usage: Usage
    cost: float | None = None


class Failed(Struct, frozen=True, tag="failed"):
    """The run could not continue; the history is valid and keeps what had arrived."""

    error: TurnoutError

    @property
    def kind(self) -> str:
        """The kind of failure, such as `rate_limit`; `usage` where no provider is at fault."""
        return self.error.kind if isinstance(self.error, ProviderError | StreamError) else "usage"


class Cancelled(Struct, frozen=True, tag="cancelled"):
    """The user stopped the run; the history is valid."""

    detail: str = ""


class Waiting(Struct, frozen=True, tag="waiting"):
    """The run ended because calls wait for an answer from outside: give it with `session.answer`."""

    calls: tuple[WaitingCall, ...]

    @property
    def detail(self) -> str:
        """What is waited for, for people."""
        asks = all(call.kind == "approval" for call in self.calls)
        names = ", ".join(call.name for call in self.calls)
        return f"waiting for approval: {names}" if asks else f"waiting: {names}"


Terminal: TypeAlias = Complete | Failed | Cancelled | Waiting
"""The last event of a run: exactly one of these."""
SessionEvent: TypeAlias = StreamEvent | ToolEvent | Status | Discarded | Nested | Terminal
"""Whatever can happen in a run, as `session.run` gives it."""
Emit: TypeAlias = Callable[[SessionEvent], None]
"""Passes an event on to the listener of a run."""
