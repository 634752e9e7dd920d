"""Read Cohere's Chat, version 2: named events, or one body.

The plan before calls is neither the answer nor thinking: it is a block of its own, which goes back
as `tool_plan`. Citations are kept on the text that they are about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model import Opaque, Origin, Residue, Stop, Usage
from ...plain import count_in, dumps, loads
from ...streaming.events import StreamEvent
from ...streaming.reply import NOTHING, Events, ReplyBuilder
from ..failure.read_failure import stream_failure, undecodable

STOPS: dict[str, Stop] = {
    "COMPLETE": "end",
    "STOP_SEQUENCE": "end",
    "TOOL_CALL": "tool_calls",
    "MAX_TOKENS": "length",
    "ERROR": "error",
    "ERROR_TOXIC": "refused",
}
DONE = b"[DONE]"


class CohereDecoder:
    """Feed the events of one reply; get events. `reply` holds what has arrived so far."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self._plan: list[str] = []
        self._citations: list[Any] = []
        self._is_text = False  # the open content is text
        self._is_thinking = False

    def feed(self, event: str, data: bytes) -> Events:
        """The events in one payload. Its `type` counts; some proxies lose the names of events."""
        if data.strip() == DONE:
            return NOTHING
        try:
            payload = loads(data)
        except (ValueError, RecursionError):
            return self.reply.fail(*undecodable(data))
        if not isinstance(payload, dict):
            return self.reply.fail("malformed", f"an event is not an object: {dumps(payload)[:200]}")
        return self._read_event(payload)

    def close(self) -> Events:
        """The end of the body. A reply without `message-end` was cut off."""
        return self.reply.fail("truncated", "the stream ended before the reply did")

    def whole(self, body: Any) -> Events:
        """The events of a body that was not streamed."""
        message = _object(body, "message")
        if not isinstance(body, dict) or (not message and "finish_reason" not in body):
            error = stream_failure(body)
            return self.reply.fail(error.kind, error.message, error)
        events: list[StreamEvent] = []
        self._citations = _items_in(message.get("citations"))
        for item in _items_in(message.get("content")):
            kind = _text(_object(item).get("type"))
            events += (*self._start_content(kind), *self._add_content(_object(item)), *self._end_content())
        self._plan = [_text(message.get("tool_plan"))]
        for place, call in enumerate(_items_in(message.get("tool_calls"))):
            function = _object(call, "function")
            events += (*self._end_plan(), *self._whole_call(place, _object(call), function))
        return (*events, *self._finish_reply(_text(body.get("finish_reason")), body.get("usage")))

    # Events

    def _read_event(self, payload: dict[str, Any]) -> Events:
        message = _object(_object(payload, "delta"), "message")
        match payload.get("type"):
            case "content-start":
                content = _object(message, "content")
                started = self._start_content(_text(content.get("type")))
                return (*started, *self._add_content(content))
            case "content-delta":
                return self._add_content(_object(message, "content"))
            case "content-end":
                return self._end_content()
            case "tool-plan-delta":
                self._plan.append(_text(message.get("tool_plan")))
                return NOTHING
            case "tool-call-start":
                return (*self._end_plan(), *self._start_call(payload, _object(message, "tool_calls")))
            case "tool-call-delta":
                arguments = _text(_object(_object(message, "tool_calls"), "function").get("arguments"))
                return self.reply.append_args(_call_index(payload), arguments)
            case "tool-call-end":
                return self.reply.complete_call(_call_index(payload))
            case "citation-start":
                self._citations += _items_in(message.get("citations"))
                return NOTHING
            case "message-end":
                return self._end_message(_object(payload, "delta"))
            case "message-start" | "citation-end" | "debug":
                return NOTHING
            case _:
                return self._read_unknown(payload)

    def _read_unknown(self, payload: dict[str, Any]) -> Events:
        """A failure has no type. An event of a kind to come says nothing that we could lose silently."""
        if "type" in payload and not payload.get("error"):
            return NOTHING
        error = stream_failure(payload)
        return self.reply.fail(error.kind, error.message, error)

    def _end_message(self, delta: dict[str, Any]) -> Events:
        if failed := _text(delta.get("error")):
            error = stream_failure({"message": failed})
            return self.reply.fail(error.kind, error.message, error)
        return self._finish_reply(_text(delta.get("finish_reason")), delta.get("usage"))

    # Content

    def _start_content(self, kind: str) -> Events:
        ending = self._end_content() if self._is_text else NOTHING
        self._is_text = kind != "thinking"
        return ending

    def _add_content(self, content: dict[str, Any]) -> Events:
        thought, text = _text(content.get("thinking")), _text(content.get("text"))
        self._is_thinking = self._is_thinking or bool(thought)
        return (*self.reply.thinking(thought), *self.reply.text(text))

    def _end_content(self) -> Events:
        if not self._is_text:
            ended, self._is_thinking = self._is_thinking, False
            return self.reply.end_thinking({"field": "thinking"}) if ended else NOTHING
        self._is_text = False
        cited = {"citations": self._citations} if self._citations else None
        self._citations = []
        return self.reply.end_text(cited)

    def _end_plan(self) -> Events:
        plan, self._plan = "".join(self._plan), []
        if not plan:
            return NOTHING
        residue = Residue(self.reply.origin, {"tool_plan": True}, "provider")
        return self.reply.opaque(Opaque("tool_plan", plan, residue))

    # Calls

    def _start_call(self, payload: dict[str, Any], call: dict[str, Any]) -> Events:
        function, place = _object(call, "function"), _call_index(payload)
        started = self.reply.start_call(place, _text(call.get("id")), _text(function.get("name")))
        return (*started, *self.reply.append_args(place, _text(function.get("arguments"))))

    def _whole_call(self, place: int, call: dict[str, Any], function: dict[str, Any]) -> Events:
        name, arguments = _text(function.get("name")), function.get("arguments")
        return self.reply.whole_call(_text(call.get("id")), name, arguments, place)

    # The end

    def _finish_reply(self, reason: str, usage: Any) -> Events:
        ending = (*self._end_content(), *self._end_plan())
        if self._citations:  # they came after their text
            self.reply.mark_reply({"citations": self._citations})
        tokens = _object(usage, "tokens") or _object(usage, "billed_units")
        counts = Usage(
            count_in(tokens.get("input_tokens")),
            count_in(tokens.get("output_tokens")),
            cached_input=count_in(_object(usage).get("cached_tokens")),
        )
        if counts != Usage():
            self.reply.usage(counts)
        calls = self.reply.complete_all(cut=reason == "MAX_TOKENS")
        return (*ending, *calls, *self.reply.done(STOPS.get(reason, "other"), reason))


def _object(value: Any, name: str = "") -> dict[str, Any]:
    found = value.get(name) if name and isinstance(value, Mapping) else None if name else value
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _items_in(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return value if isinstance(value, list) else [] if value is None else [value]


def _call_index(payload: dict[str, Any]) -> int:
    index = payload.get("index")
    return index if isinstance(index, int) else 0
