"""Read Ollama's own chat: one JSON object a line, the last of them `done`.

Each line holds a message that adds to the ones before. Calls come whole, their arguments
as objects; the counts come with the end.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...model import Origin, Stop, Usage
from ...plain import count_in, dumps, loads
from ...streaming.events import StreamEvent
from ...streaming.reply import NOTHING, Events, ReplyBuilder
from ..chat.chunk import dicts
from ..chat.decoder import ChatOptions, raw_text_reader
from ..failure.read_failure import stream_failure, undecodable

STOPS: dict[str, Stop] = {"stop": "end", "": "end", "length": "length"}


class _Message(Struct):
    content: Any = None
    thinking: Any = None
    tool_calls: Any = None


class _Line(Struct):
    message: _Message | None = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Line).decode


class OllamaDecoder:
    """Feed the lines of one reply; get events. `reply` holds what has arrived so far."""

    def __init__(self, origin: Origin, turn_key: str, options: ChatOptions | None = None) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self._raw_text = raw_text_reader(self.reply, options or ChatOptions())
        self._thinking = False
        self._called = 0

    def feed(self, event: str, data: bytes) -> Events:
        """The events in one line."""
        try:
            line = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._read_odd_line(data)
        if line.message is None or line.error is not None:
            return self._read_odd_line(data)
        return (
            (*self._read_message(line.message), *self._finish_reply(line))
            if line.done
            else self._read_message(line.message)
        )

    def close(self) -> Events:
        """The end of the body. A reply whose last line is not `done` was cut off."""
        return self.reply.fail("truncated", "the stream ended before the reply did")

    def whole(self, body: Any) -> Events:
        """The events of a body that was not streamed."""
        return (*self._read_line(body), *self._finish_reply(_fill_struct(_Line, body)))

    def _read_odd_line(self, data: bytes) -> Events:
        try:
            body = loads(data)
        except (ValueError, RecursionError):
            return self.reply.fail(*undecodable(data))
        line = _fill_struct(_Line, body)
        return (*self._read_line(body), *self._finish_reply(line)) if line.done else self._read_line(body)

    def _read_line(self, body: Any) -> Events:
        """A line of any shape."""
        if isinstance(body, dict) and not body.get("error") and isinstance(body.get("message"), dict):
            return self._read_message(_fill_struct(_Message, body["message"]))
        if isinstance(body, dict) and any(body.get(name) for name in ("error", "message", "detail")):
            error = stream_failure(body)
            return self.reply.fail(error.kind, error.message, error)
        return self.reply.fail("malformed", f"a line holds no message: {dumps(body)[:200]}")

    def _read_message(self, message: _Message) -> Events:
        """Thinking, text and calls of one message, in the order in which models write them."""
        if not message.thinking and not message.tool_calls:
            return self._add_text(message.content)
        events: list[StreamEvent] = []
        if isinstance(message.thinking, str) and message.thinking:
            self._thinking = True
            thought = self.reply.thinking if self._raw_text is None else self._raw_text.add_thinking
            events += thought(message.thinking)
        events += self._add_text(message.content)
        if message.tool_calls and self._raw_text is not None:
            events += self._raw_text.settle()
        for call in dicts(message.tool_calls):
            events += (*self._end_thinking(), *self._add_call(call))
        return events

    def _add_text(self, content: Any) -> Events:
        if not isinstance(content, str) or not content:
            return NOTHING
        said = self.reply.text if self._raw_text is None else self._raw_text.add_text
        return (*self._end_thinking(), *said(content)) if self._thinking else said(content)

    def _end_thinking(self) -> Events:
        if not self._thinking:
            return NOTHING
        self._thinking = False
        held = self._raw_text.end_thought() if self._raw_text is not None else NOTHING
        return (*held, *self.reply.end_thinking({"field": "thinking"}))

    def _add_call(self, call: dict[str, Any]) -> Events:
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        raw_id, name = call.get("id"), function.get("name")
        self._called += 1
        return self.reply.whole_call(
            raw_id if isinstance(raw_id, str) else "",
            name if isinstance(name, str) else "",
            function.get("arguments"),
            self._called,
        )

    def _finish_reply(self, line: _Line) -> Events:
        reason = line.done_reason if isinstance(line.done_reason, str) else ""
        tokens = Usage(count_in(line.prompt_eval_count), count_in(line.eval_count))
        if tokens != Usage():
            self.reply.usage(tokens)
        ending = self._end_thinking()
        held = self._raw_text.close() if self._raw_text is not None else NOTHING
        calls = self.reply.complete_all()
        return (*ending, *held, *calls, *self.reply.done(STOPS.get(reason, "other"), reason))


def _fill_struct(kind: Any, fields: Any) -> Any:
    """The shape from any value. Values of a wrong type are left out."""
    known = fields if isinstance(fields, dict) else {}
    return kind(**{name: known.get(name) for name in kind.__struct_fields__ if name != "message"})
