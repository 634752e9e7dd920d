"""The screen of a conversation as a state machine: events in, pieces out. No terminal, no clock.

`feed` gives the pieces that an event finished, which are shown once. `live` gives the live view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...model import ModelTurn, Outcome
from ...session.events import (
    Cancelled,
    Complete,
    Discarded,
    Failed,
    Nested,
    SessionEvent,
    Status,
    Terminal,
    Waiting,
)
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

MOST_FOLDED = 50
"""Folded pieces that can still be opened."""

NOTICES = {
    "switched": "switched, because of ",
    "recovering": "retrying with a changed request: ",
    "compressing": "compacting: ",
    "guard": "stopped: ",
    "end_of_life": "",
}


class Screen:
    """The screen of one conversation."""

    def __init__(
        self,
        look: Look = lambda path: None,
        hide: Callable[[str], str] = str,
        advise: Callable[[str], str] = lambda kind: "",
    ) -> None:
        self.unfolded = False
        self.queued: list[str] = []
        self.last_thought = ""
        self._folded: list[Piece] = []  # what is not shown whole, the last one at the end
        self._look = look
        self._advise = advise  # what to do about a failure of this kind
        self._hide = hide  # redacts secrets in the messages of providers
        self._blocks = Blocks()
        self._calls: dict[str, CallOnScreen] = {}
        self._thinking: list[str] = []
        self._thought_since = 0.0
        self._busy_since: float | None = None
        self._doing = ""
        self._shown = False  # whether a part of the current reply is on the screen for good

    def begin(self, now: float) -> None:
        """A run starts."""
        self._busy_since = now
        self._doing = "waiting"
        self._shown = False

    def stop(self) -> None:
        """The run is over, however it ended."""
        self._calls.clear()
        self._busy_since, self._doing = None, ""

    def name_call(self, id: str, arguments: dict[str, Any]) -> None:
        """Set the arguments of a call that the model did not write."""
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
            case Complete() | Failed() | Cancelled() | Waiting():
                yield from self._end_reply(event, now)

    def live(self, now: float) -> LiveView:
        """The live view."""
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

    def take_folded(self) -> Piece | None:
        """The last piece that is not shown whole, as a whole piece; None if there is no other."""
        return self._folded.pop() if self._folded else None

    def _fold_away(self, piece: Piece | None) -> None:
        if piece is not None:
            self._folded = [*self._folded[-(MOST_FOLDED - 1) :], piece]

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
            if not self.unfolded:
                self._fold_away(FoldedThought(text, now - self._thought_since, True))
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
        """Calls are shown for good in the order in which they were made, not in which they ended."""
        for id, call in list(self._calls.items()):
            if call.used is None:
                return
            del self._calls[id]
            self._fold_away(call.whole)
            yield call.used

    # What the session does

    def _take_status(self, event: Status) -> Iterator[Piece]:
        if event.kind == "queued":
            self.queued.clear()
        elif event.kind in ("retrying", "sending"):
            self._doing = f"{event.kind}: {one_line(event.detail)}" if event.detail else event.kind
        elif event.kind == "tools":
            self._doing, self._shown = "waiting", False
        elif event.kind in NOTICES:
            where = f" → {event.target}" if event.kind == "switched" and event.target else ""
            yield Notice(NOTICES[event.kind] + one_line(self._hide(event.detail), 300) + where, "warn")

    def _discard_reply(self) -> Iterator[Piece]:
        self._blocks, self._thinking = Blocks(), []
        self._calls.clear()
        if self._shown:
            yield Notice("The reply broke off and is requested again; ignore the part above.", "warn")
        self._shown = False

    def _end_reply(self, event: Terminal, now: float) -> Iterator[Piece]:
        yield from self._finish_thought(now)
        yield from self._finish_text()
        for call in self._calls.values():
            if call.used is None:
                stopped: Any = "cancelled" if isinstance(event, Cancelled) else "interrupted"
                call.set_outcome(Outcome(stopped), now)
            assert call.used is not None
            self._fold_away(call.whole)
            yield call.used
        self.stop()
        match event:
            case Complete(turn):
                yield from _ending_notice(turn)
            case Cancelled():
                yield Notice("Interrupted. The conversation is valid; type what to do next.", "warn")
            case Waiting():
                yield Notice(f"{event.detail}. It goes on when an answer is there.", "warn")
            case Failed(error):
                yield Notice(printable(self._hide(str(error))), "bad")
                if advice := self._advise(event.kind):
                    yield Notice(printable(self._hide(advice)))


def _ending_notice(turn: ModelTurn) -> Iterator[Piece]:
    if turn.stop == "length":
        yield Notice("The answer reached the model's limit; type “continue” for the rest.", "warn")
    elif turn.stop == "refused":
        yield Notice("The model refused to answer.", "warn")
    elif not turn.text.strip():
        yield Notice("The answer is empty.")
