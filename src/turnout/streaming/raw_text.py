"""Raw model text, on its way into the reply: for servers that do not parse it themselves.

Such text may hold thinking between tags and calls in the model's own syntax. Both are
taken out here. The rest is text of the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .events import StreamEvent
from .reply import NOTHING, Events, ReplyBuilder
from .text_syntax import TextCall, TextThought
from .texttools import Piece, TextTools
from .thinktags import ThinkTags


class RawText:
    """Text and thinking go through this. Calls found in thinking wait until the thinking ends."""

    def __init__(self, reply: ReplyBuilder, tags: ThinkTags | None, syntax: str = "") -> None:
        self._reply = reply
        self._tags = tags
        self._said = TextTools(syntax) if syntax else None
        self._thought = TextTools(syntax) if syntax else None
        self._waiting: list[TextCall] = []
        self._called = 0

    def add_text(self, text: str) -> Events:
        """A piece of text."""
        return self._events_of_tagged(self._tags.feed(text) if self._tags is not None else [("text", text)])

    def add_thinking(self, text: str) -> Events:
        """A piece of thinking."""
        if self._thought is None:
            return self._reply.thinking(text)
        return self._events_of_pieces(self._thought.feed(text), self._reply.thinking)

    def end_thought(self) -> Events:
        """The thinking is about to end: what was held back of it comes first."""
        return (
            self._events_of_pieces(self._thought.close(), self._reply.thinking) if self._thought else NOTHING
        )

    def settle(self) -> Events:
        """A call or another block follows what was written so far."""
        return self._events_of_tagged(self._tags.settle()) if self._tags is not None else NOTHING

    def close(self) -> Events:
        """What was held back, now that no more can come."""
        tagged = self._events_of_tagged(self._tags.close()) if self._tags is not None else NOTHING
        return (
            *tagged,
            *self.end_thought(),
            *self._release_calls(),
            *self._end_text(),
            *self._release_calls(),
        )

    def _events_of_tagged(self, pieces: Iterable[tuple[str, str]]) -> Events:
        events: list[StreamEvent] = []
        for kind, text in pieces:
            if kind == "thinking":
                events += self.add_thinking(text)
            elif kind == "text":
                events += (*self.end_thought(), *self._release_calls(), *self._add_untagged_text(text))
            else:
                events += (*self._end_text(), *self._reply.take_back_text())
        return events

    def _add_untagged_text(self, text: str) -> Events:
        if self._said is None:
            return self._reply.text(text)
        return (*self._events_of_pieces(self._said.feed(text), self._reply.text), *self._release_calls())

    def _end_text(self) -> Events:
        return (
            self._events_of_pieces(self._said.close(), self._reply.text)
            if self._said is not None
            else NOTHING
        )

    def _events_of_pieces(self, pieces: Iterable[Piece], write: Callable[[str], Events]) -> Events:
        events: list[StreamEvent] = []
        for piece in pieces:
            if isinstance(piece, str):
                events += (
                    (*self._release_calls(), *write(piece)) if write == self._reply.text else write(piece)
                )
            elif isinstance(piece, TextThought):
                events += (*self._reply.thinking(piece.text), *self._reply.end_thinking())
            else:
                self._waiting.append(piece)
        return events

    def _release_calls(self) -> Events:
        """Start the calls that waited. They are complete when the reply is, like all calls."""
        calls, self._waiting = self._waiting, []
        events: list[StreamEvent] = []
        for call in calls:
            self._called += 1
            key = ("written", self._called)
            events += self._reply.start_call(key, call.raw_id, call.name)
            events += self._reply.set_args(key, call.arguments)
        return events
