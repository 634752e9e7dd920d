"""Read Anthropic Messages: frames of a stream or a whole body become events.

A message is a list of content blocks, each with an index: it starts, grows by deltas and
stops. One block of state is kept per open index, so blocks may overlap. The arguments of
a call are the joined `input_json_delta` texts; the `input` in the start of a block is
always empty in real streams and counts only when no deltas come.

Nearly every frame is a delta of text, thinking or arguments. Those are decoded straight
into small structs. All other frames are read as plain dicts, with the same result.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...history.opaque_text import words_of
from ...model import Opaque, Origin, Residue, Stop, Usage
from ...plain import count_in, dict_in, dumps, list_in, loads, text_in
from ...streaming.reply import NOTHING, Draft, Events, ReplyBuilder
from ..failure.read_failure import is_failure, stream_failure, undecodable

STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
    "pause_turn": "paused",
    "compaction": "paused",
}


class _TextDelta(Struct, tag="text_delta", gc=False):
    text: str


class _ThinkingDelta(Struct, tag="thinking_delta", gc=False):
    thinking: str


class _JsonDelta(Struct, tag="input_json_delta", gc=False):
    partial_json: str


class _BlockDelta(Struct, tag="content_block_delta", gc=False):
    index: int
    delta: _TextDelta | _JsonDelta | _ThinkingDelta


_decode_delta = msgspec.json.Decoder(_BlockDelta).decode


class _OpenBlock:
    """An open content block: its start, and the deltas since."""

    __slots__ = ("citations", "draft", "key", "pieces", "signature", "start", "type")

    def __init__(self, key: int, start: dict[str, Any]) -> None:
        self.key = key
        self.start = start
        self.type = text_in(start.get("type"))
        self.draft: Draft | None = None
        self.pieces: list[str] = []
        self.citations: list[Any] = list(list_in(start.get("citations")))
        self.signature = text_in(start.get("signature"))


class AnthropicDecoder:
    """Feed the frames of one reply; get events, and the turn from `reply`."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self._open: dict[int, _OpenBlock] = {}
        self._current: _OpenBlock | None = None
        self._started = 0
        self._counts: dict[str, Any] = {}
        self._raw_stop = ""

    def feed(self, event: str, data: bytes) -> Events:
        """The events of one frame. `event` is a hint only: the payload names its type itself."""
        if event == "content_block_delta" or (not event and b'"content_block_delta"' in data):
            try:
                frame = _decode_delta(data)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return self._feed_general(data)
            delta = frame.delta
            if isinstance(delta, _TextDelta):
                return self._text_delta(frame.index, delta.text)
            if isinstance(delta, _JsonDelta):
                return self._json_delta(frame.index, delta.partial_json)
            return self._thinking_delta(frame.index, delta.thinking)
        return self._feed_general(data)

    def _feed_general(self, data: bytes) -> Events:
        try:
            payload = loads(data)
        except (ValueError, RecursionError):
            if self.reply.ended or data.strip() in (b"", b"[DONE]"):
                return NOTHING
            return self.reply.fail(*undecodable(data))
        return self.feed_payload(payload)

    def feed_payload(self, payload: Any) -> Events:
        """The events of one payload that is decoded already."""
        if self.reply.ended:
            return NOTHING
        if not isinstance(payload, dict):
            return self.reply.fail("malformed", f"a frame is not an object: {dumps(payload)[:200]}")
        match payload.get("type"):
            case "content_block_delta":
                return self._block_delta(self._index(payload), dict_in(payload.get("delta")))
            case "content_block_start":
                return self._start_block(self._index(payload), dict_in(payload.get("content_block")))
            case "content_block_stop":
                return self._stop_block(self._index(payload))
            case "message_start":
                return self._message(dict_in(payload.get("message")))
            case "message_delta":
                return self._message_delta(payload)
            case "message_stop":
                return self._message_stop()
            case "message":
                return self.whole(payload)
            case "error":
                return self._fail_reply(payload)
            case kind:
                return self._fail_reply(payload) if kind is None and payload.get("error") else NOTHING

    def whole(self, body: Any) -> Events:
        """The events of a reply that came as one JSON body."""
        if not isinstance(body, dict) or not isinstance(body.get("content"), list):
            return self._not_a_message(body)
        events = list(self._message(body))
        self._raw_stop = text_in(body.get("stop_reason"))
        return [*events, *self._stop_details(body), *self._finish_reply()]

    def close(self) -> Events:
        """The end of the bytes. A reply without `message_stop` was cut off."""
        return self.reply.fail("truncated", "the stream ended without message_stop")

    def _not_a_message(self, body: Any) -> Events:
        if is_failure(body):
            return self._fail_reply(body)
        return self.reply.fail("malformed", f"the body is not a message: {dumps(body)[:200]}")

    def _fail_reply(self, payload: dict[str, Any]) -> Events:
        cause = stream_failure(payload)
        return self.reply.fail(cause.kind, cause.message, cause)

    # -- the message

    def _message(self, message: dict[str, Any]) -> Events:
        self._count_usage(message.get("usage"))
        self._mark_reply(message)
        events: list[Any] = []
        for index, block in enumerate(list_in(message.get("content"))):
            events += self._start_block(index, dict_in(block))
            events += self._stop_block(index)
        return events

    def _message_delta(self, payload: dict[str, Any]) -> Events:
        delta = dict_in(payload.get("delta"))
        self._count_usage(payload.get("usage"))
        self._mark_reply(delta)
        self._raw_stop = text_in(delta.get("stop_reason")) or self._raw_stop
        return self._stop_details(delta)

    def _message_stop(self) -> Events:
        """Some servers leave out the stop of the last block; the end of the message closes it."""
        events: list[Any] = []
        for index in list(self._open):
            events += self._stop_block(index)
        return [*events, *self._finish_reply()]

    def _finish_reply(self) -> Events:
        stop = STOPS.get(self._raw_stop, "other") if self._raw_stop else "end"
        return self.reply.done(stop, self._raw_stop)

    def _mark_reply(self, message: dict[str, Any]) -> None:
        """Keep what a later request may have to name: this reply, and the container that ran its code."""
        marks = {name: message[name] for name in ("id", "container") if message.get(name)}
        if marks:
            self.reply.mark_reply(marks)

    def _stop_details(self, message: dict[str, Any]) -> Events:
        """Why the model refused. The API says so, not the model."""
        explanation = text_in(dict_in(message.get("stop_details")).get("explanation"))
        return self.reply.opaque(Opaque("refusal", explanation)) if explanation else NOTHING

    def _count_usage(self, usage: Any) -> None:
        """Counts are cumulative: a later one replaces an earlier one."""
        if isinstance(usage, dict):
            self._counts.update((name, count) for name, count in usage.items() if count is not None)
            self.reply.usage(_usage_in(self._counts))

    # -- blocks

    def _index(self, payload: dict[str, Any]) -> int:
        index = payload.get("index")
        if isinstance(index, int):
            return index
        begins = payload["type"] == "content_block_start"
        return self._started if begins else max(self._open, default=self._started)

    def _start_block(self, index: int, start: dict[str, Any]) -> Events:
        block = _OpenBlock(self._started, start)
        self._started += 1
        self._open[index] = self._current = block
        match block.type:
            case "text":
                block.draft = self.reply.open_text()
                return self.reply.text(text_in(start.get("text")))
            case "thinking":
                block.draft = self.reply.open_thinking()
                return self.reply.thinking(text_in(start.get("thinking")))
            case "tool_use":
                return self._start_call(block)
        return NOTHING

    def _start_call(self, block: _OpenBlock) -> Events:
        start = block.start
        events = self.reply.start_call(
            block.key, text_in(start.get("id")), text_in(start.get("name")), arguments=start.get("input")
        )
        caller = start.get("caller")
        if isinstance(caller, dict) and caller.get("type") != "direct":
            self.reply.mark_call(block.key, {"caller": caller})
        return events

    def _block_delta(self, index: int, delta: dict[str, Any]) -> Events:
        match delta.get("type"):
            case "text_delta":
                return self._text_delta(index, text_in(delta.get("text")))
            case "thinking_delta":
                return self._thinking_delta(index, text_in(delta.get("thinking")))
            case "input_json_delta":
                return self._json_delta(index, text_in(delta.get("partial_json")))
        if (block := self._open.get(index)) is not None:
            self._grow_block(block, delta)
        return NOTHING

    def _text_delta(self, index: int, text: str) -> Events:
        block = self._open.get(index)
        if block is not self._current:
            self._resume_block(block)
        return self.reply.text(text)

    def _thinking_delta(self, index: int, text: str) -> Events:
        block = self._open.get(index)
        if block is not self._current:
            self._resume_block(block)
        return self.reply.thinking(text)

    def _json_delta(self, index: int, text: str) -> Events:
        block = self._open.get(index)
        if block is None:
            return NOTHING
        if block.type == "tool_use":
            return self.reply.append_args(block.key, text)
        block.pieces.append(text)
        return NOTHING

    def _resume_block(self, block: _OpenBlock | None) -> None:
        """Continue another block. Text for an index that never started goes to the open text."""
        if block is not None and block.draft is not None:
            self.reply.resume(block.draft)
        self._current = block

    def _grow_block(self, block: _OpenBlock, delta: dict[str, Any]) -> None:
        match delta.get("type"):
            case "signature_delta":
                block.signature = text_in(delta.get("signature")) or block.signature
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case _:
                _merge_delta(block.start, delta)

    def _stop_block(self, index: int) -> Events:
        block = self._open.pop(index, None)
        if block is None:
            return NOTHING
        if block.draft is not None and block is not self._current:
            self.reply.resume(block.draft)
        self._current = None
        match block.type:
            case "text":
                return self._stop_text(block)
            case "thinking":
                return self.reply.end_thinking({"signature": block.signature} if block.signature else None)
            case "redacted_thinking":
                return self.reply.end_thinking({"redacted": text_in(block.start.get("data"))})
            case "tool_use":
                return self.reply.complete_call(block.key)
        return self._stop_opaque(block)

    def _stop_text(self, block: _OpenBlock) -> Events:
        return self.reply.end_text({"citations": block.citations} if block.citations else None)

    def _stop_opaque(self, block: _OpenBlock) -> Events:
        """Tools that the provider ran, and unknown kinds: kept whole, for this provider only."""
        if block.pieces:
            block.start["input"] = _json_value("".join(block.pieces))
        kind = block.type or "unknown"
        residue = Residue(self.reply.origin, {"block": block.start})
        return self.reply.opaque(Opaque(kind, words_of(kind, block.start), residue))


def _usage_in(counts: dict[str, Any]) -> Usage:
    details = dict_in(counts.get("output_tokens_details"))
    return Usage(
        input=count_in(counts.get("input_tokens")),
        output=count_in(counts.get("output_tokens")),
        cached_input=count_in(counts.get("cache_read_input_tokens")),
        cache_write=count_in(counts.get("cache_creation_input_tokens")),
        reasoning=count_in(details.get("thinking_tokens")),
    )


def _merge_delta(start: dict[str, Any], delta: dict[str, Any]) -> None:
    """A delta of an unknown kind adds to the fields that it names."""
    for name, value in delta.items():
        if name == "type":
            continue
        before: Any = start.get(name)
        if type(before) is type(value) and isinstance(before, str | list):
            start[name] = before + value
        elif value is not None:
            start[name] = value


def _json_value(text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
