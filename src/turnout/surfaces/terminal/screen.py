"""The screen of a conversation as a machine: events in, what to show out. No terminal, no clock.

`feed` gives the pieces that an event finished, to be shown once; `live` tells what moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...model import ModelTurn, Outcome
from ...session.events import Cancelled, Complete, Discarded, Failed, Nested, SessionEvent, Status
from ...streaming.events import (
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from ...tools.declare.events import ToolProgress, ToolResult, ToolState
from ..shared.clean_text import one_line, printable, without_controls
from .blocks import Blocks
from .calls import CallOnScreen
from .changes import Look
from .pieces import FoldedThought, LiveView, Notice, Piece

TOLD = {
    "switched": "switched, because of ",
    "recovering": "trying again without something: ",
    "compressing": "making room: ",
    "guard": "stopped: ",
}
HINTS = {
    "auth": "Set the provider's key, or choose another model with /model.",
    "quota": "The account is used up; /model chooses another one.",
    "rate_limit": "Wait a little, or choose another model with /model.",
    "context_too_long": "/compact makes room.",
    "not_found": "/model lists models that are ready.",
    "invalid_request": "/diagnose says which part is at fault; /model goes on elsewhere.",
    "network": "Is the network up, and the address right? `turnout providers --check` tells.",
}


class Screen:
    """What one conversation shows."""

    def __init__(self, look: Look = lambda path: None, hide: Callable[[str], str] = str) -> None:
        self.unfolded = False
        self.queued: list[str] = []
        self.last_thought = ""
        self._look = look
        self._hide = hide  # takes secrets out of what providers say when they refuse
        self._blocks = Blocks()
        self._calls: dict[str, CallOnScreen] = {}
        self._thinking: list[str] = []
        self._thought_since = 0.0
        self._busy_since: float | None = None
        self._doing = ""
        self._shown = False  # whether something of the reply under way is on the screen for good

    def begin(self, now: float) -> None:
        """The user has spoken."""
        self._busy_since = now
        self._doing = "waiting"
        self._shown = False

    def stop(self) -> None:
        """Nothing is under way any more, however it ended."""
        self._calls.clear()
        self._busy_since, self._doing = None, ""

    def name_call(self, id: str, arguments: dict[str, Any]) -> None:
        """Say what a call is about where it is not what a model wrote."""
        if (call := self._calls.get(id)) is not None:
            call.set_arguments(arguments, self._look)

    def feed(self, event: SessionEvent, now: float) -> Iterator[Piece]:
        """The pieces that this event finished."""
        match event:
            case ThinkingDelta(text):
                self._add_thinking(text, now)
            case ThinkingEnd():
                yield from self._finish_thought(now)
            case TextDelta(text):
                yield from self._finish_thought(now)
                self._doing = "answering"
                yield from self._add_text(text)
            case ToolCallStart(id, name):
                yield from self._finish_thought(now)
                yield from self._finish_text()
                self._calls[id] = CallOnScreen(name, now)
            case ToolCallDelta(id, piece) if id in self._calls:
                self._calls[id].add_raw_arguments(piece)
            case ToolCallComplete(id) if id in self._calls:
                self._calls[id].finish_arguments(self._look)
            case ToolState() | ToolProgress() | ToolResult() | Nested():
                yield from self._take_tool_event(event, now)
            case Status():
                yield from self._take_status(event)
            case Discarded():
                yield from self._discard_reply()
            case Complete() | Failed() | Cancelled():
                yield from self._end_reply(event, now)

    def live(self, now: float) -> LiveView:
        """What moves."""
        if self._busy_since is None:
            return LiveView(queued=tuple(self.queued))
        thinking = "".join(self._thinking)
        return LiveView(
            True,
            "thinking" if thinking else self._doing,
            now - self._busy_since,
            printable(thinking[-2_000:]),
            self._blocks.tail,
            tuple(call.running_piece(now) for call in self._calls.values()),
            tuple(self.queued),
        )

    @property
    def busy(self) -> bool:
        return self._busy_since is not None

    # What the model says

    def _add_thinking(self, text: str, now: float) -> None:
        if not self._thinking:
            self._thought_since = now
        self._thinking.append(text)

    def _finish_thought(self, now: float) -> Iterator[Piece]:
        text, self._thinking = printable("".join(self._thinking)).strip(), []
        if text:
            self.last_thought = text
            self._shown = True
            yield FoldedThought(text, now - self._thought_since, self.unfolded)

    def _add_text(self, text: str) -> Iterator[Piece]:
        for part in self._blocks.feed(without_controls(text)):
            self._shown = True
            yield part

    def _finish_text(self) -> Iterator[Piece]:
        for part in self._blocks.close():
            self._shown = True
            yield part

    # What tools do

    def _take_tool_event(
        self, event: ToolState | ToolProgress | ToolResult | Nested, now: float
    ) -> Iterator[Piece]:
        if isinstance(event, ToolState | ToolResult):
            self._calls.setdefault(event.call_id, CallOnScreen(event.name, now))
        if (call := self._calls.get(event.call_id)) is None:
            return
        match event:
            case ToolState():
                self._doing = "working"
                call.set_state(event, now)
            case ToolProgress():
                call.add_progress(event)
            case Nested():
                call.add_nested(event)
            case ToolResult(_, _, outcome):
                call.set_outcome(outcome, now)
                yield from self._finished_calls()

    def _finished_calls(self) -> Iterator[Piece]:
        """Calls are shown for good in the order they were made, whichever ended first."""
        for id, call in list(self._calls.items()):
            if call.used is None:
                return
            del self._calls[id]
            yield call.used

    # What the session does

    def _take_status(self, event: Status) -> Iterator[Piece]:
        if event.kind == "queued":
            self.queued.clear()
        elif event.kind in ("retrying", "sending"):
            self._doing = f"{event.kind}: {one_line(event.detail)}" if event.detail else event.kind
        elif event.kind == "tools":
            self._doing, self._shown = "waiting", False
        elif event.kind in TOLD:
            where = f" → {event.target}" if event.kind == "switched" and event.target else ""
            yield Notice(TOLD[event.kind] + one_line(self._hide(event.detail), 300) + where, "warn")

    def _discard_reply(self) -> Iterator[Piece]:
        self._blocks, self._thinking = Blocks(), []
        self._calls.clear()
        if self._shown:
            yield Notice(
                "The reply broke off and is asked for again; what stands above of it does not count.", "warn"
            )
        self._shown = False

    def _end_reply(self, event: Complete | Failed | Cancelled, now: float) -> Iterator[Piece]:
        yield from self._finish_thought(now)
        yield from self._finish_text()
        for call in self._calls.values():
            if call.used is None:
                stopped: Any = "cancelled" if isinstance(event, Cancelled) else "interrupted"
                call.set_outcome(Outcome(stopped), now)
            assert call.used is not None
            yield call.used
        self.stop()
        match event:
            case Complete(turn):
                yield from _ending_notice(turn)
            case Cancelled():
                yield Notice("Interrupted. The conversation is in order; say what comes next.", "warn")
            case Failed(error):
                yield from _failure_notices(self._hide(str(error)), event.kind)


def _ending_notice(turn: ModelTurn) -> Iterator[Piece]:
    if turn.stop == "length":
        yield Notice("The answer was cut off at the model's limit; say “go on” for the rest.", "warn")
    elif turn.stop == "refused":
        yield Notice("The model refused to answer.", "warn")
    elif not turn.text.strip():
        yield Notice("The model had nothing to say.")


def _failure_notices(said: str, kind: str) -> Iterator[Piece]:
    yield Notice(printable(said), "bad")
    if hint := HINTS.get(kind, ""):
        yield Notice(hint)
