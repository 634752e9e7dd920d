"""Read Converse: events of a stream or a whole body become events of ours.

A message is a list of content blocks, each with an index. Only calls announce their start; text and
reasoning begin with their first delta. The counts of tokens come after the stop, in `metadata`, so
the reply is over when both have come. An exception is an event too.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...history.opaque_text import words_of
from ...model import Media, Opaque, Origin, Residue, Stop, Usage
from ...plain import count_in, dict_in, dumps, list_in, loads, text_in
from ...streaming.eventstream import FAILED
from ...streaming.reply import NOTHING, Draft, Events, ReplyBuilder
from ..failure.read_failure import is_failure, stream_failure, undecodable

STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
HOSTED = "server_tool_use"
"""The type of a call that Bedrock runs itself."""


class _InputDelta(Struct, gc=False):
    input: str


class _QuickDelta(Struct, gc=False, forbid_unknown_fields=True):
    text: str | None = None
    toolUse: _InputDelta | None = None


class _DeltaEvent(Struct, gc=False):
    contentBlockIndex: int
    delta: _QuickDelta


_decode_delta = msgspec.json.Decoder(_DeltaEvent).decode


class _GrowingBlock:
    """An open content block: what kind it is, and what came of it so far."""

    __slots__ = ("citations", "draft", "held", "key", "kind", "redacted", "signature")

    def __init__(self, key: int, kind: str, held: dict[str, Any] | None = None) -> None:
        self.key = key
        self.kind = kind  # text, thinking, call, hosted, result, image
        self.held = held or {}
        self.draft: Draft | None = None
        self.citations: list[Any] = []
        self.signature = ""
        self.redacted = ""


class ConverseDecoder:
    """Feed the events of one reply; get ours, and the turn from `reply`."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self._open: dict[int, _GrowingBlock] = {}
        self._current: _GrowingBlock | None = None
        self._started = 0
        self._raw_stop: str | None = None

    def feed(self, event: str, data: bytes) -> Events:
        """The events of one frame. Without a name of the event, the payload's only key is it."""
        if event == "contentBlockDelta":
            try:
                frame = _decode_delta(data)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return self._feed_general(event, data)
            if frame.delta.text is not None:
                return self._text_delta(frame.contentBlockIndex, frame.delta.text)
            if frame.delta.toolUse is not None:
                return self._input_delta(frame.contentBlockIndex, frame.delta.toolUse.input)
        return self._feed_general(event, data)

    def _feed_general(self, event: str, data: bytes) -> Events:
        try:
            payload = loads(data)
        except (ValueError, RecursionError):
            return NOTHING if self.reply.ended else self.reply.fail(*undecodable(data))
        return self.feed_payload(event, payload)

    def feed_payload(self, event: str, payload: Any) -> Events:
        """The events of one payload that is decoded already."""
        if self.reply.ended:
            return NOTHING
        if not isinstance(payload, dict):
            return self.reply.fail("malformed", f"an event is not an object: {dumps(payload)[:200]}")
        if event.startswith(FAILED):
            return self._fail_reply(event.removeprefix(FAILED), payload)
        if not event and len(payload) == 1:  # a line of JSON in place of a message of the event stream
            event, payload = next((name, dict_in(value)) for name, value in payload.items())
            if event.endswith("Exception"):
                return self._fail_reply(event, payload)
        index = payload.get("contentBlockIndex")
        at = index if isinstance(index, int) else max(self._open, default=self._started)
        match event:
            case "contentBlockStart":
                return self._start_block(at, dict_in(payload.get("start")))
            case "contentBlockDelta":
                return self._block_delta(at, dict_in(payload.get("delta")))
            case "contentBlockStop":
                return self._stop_block(at)
            case "messageStop":
                return self._message_stop(text_in(payload.get("stopReason")))
            case "metadata":
                return self._metadata(payload)
            case "":
                return self._not_a_reply(payload)
        return NOTHING  # messageStart, and events that are not known yet

    def whole(self, body: Any) -> Events:
        """The events of a reply that came as one JSON body."""
        output = body.get("output") if isinstance(body, dict) else None
        message = dict_in(dict_in(output).get("message"))
        if not isinstance(message.get("content"), list):
            if isinstance(body, dict) and len(body) == 1 and not is_failure(body):  # a stream of one line
                return (*self.feed_payload("", body), *self.close())
            return self._not_a_reply(body)
        events: list[Any] = []
        for index, block in enumerate(message["content"]):
            events += self._whole_block(index, dict_in(block))
        self._raw_stop = text_in(body.get("stopReason"))
        self._count_usage(body)
        return [*events, *self._finish_reply()]

    def close(self) -> Events:
        """The end of the bytes. After the stop only the counts are missing; before it, the reply was cut."""
        if self._raw_stop is not None:
            return self._finish_reply()
        return self.reply.fail("truncated", "the stream ended without messageStop")

    # -- failures

    def _fail_reply(self, name: str, payload: dict[str, Any]) -> Events:
        """`originalMessage` is what the model's own server said."""
        said = text_in(payload.get("message")) or text_in(payload.get("originalMessage")) or name
        cause = stream_failure({"error": {"type": name, "message": said}})
        return self.reply.fail(cause.kind, cause.message, cause)

    def _not_a_reply(self, body: Any) -> Events:
        if is_failure(body):
            cause = stream_failure(body)
            return self.reply.fail(cause.kind, cause.message, cause)
        return self.reply.fail("malformed", f"the body is not a reply of Converse: {dumps(body)[:200]}")

    # -- the message

    def _message_stop(self, reason: str) -> Events:
        """The end of the blocks. The reply waits for its counts: `metadata` follows."""
        events: list[Any] = []
        for index in list(self._open):
            events += self._stop_block(index)
        self._raw_stop = reason
        return events

    def _metadata(self, payload: dict[str, Any]) -> Events:
        self._count_usage(payload)
        return self._finish_reply() if self._raw_stop is not None else NOTHING

    def _finish_reply(self) -> Events:
        reason = self._raw_stop or ""
        return self.reply.done(STOPS.get(reason, "other") if reason else "end", reason)

    def _count_usage(self, payload: dict[str, Any]) -> None:
        counts = payload.get("usage")
        if isinstance(counts, dict):
            self.reply.usage(_usage_in(counts))

    # -- blocks

    def _open_block(self, index: int, kind: str, held: dict[str, Any] | None = None) -> _GrowingBlock:
        block = _GrowingBlock(self._started, kind, held)
        self._started += 1
        self._open[index] = self._current = block
        if kind == "text":
            block.draft = self.reply.open_text()
        elif kind == "thinking":
            block.draft = self.reply.open_thinking()
        return block

    def _block_at(self, index: int, kind: str) -> _GrowingBlock:
        """The open block of that index, continued if another one interrupted it."""
        block = self._open.get(index)
        if block is None:
            return self._open_block(index, kind)
        if block is not self._current and block.draft is not None:
            self.reply.resume(block.draft)
        self._current = block
        return block

    def _start_block(self, index: int, start: dict[str, Any]) -> Events:
        if isinstance(call := start.get("toolUse"), dict):
            if call.get("type") == HOSTED:
                self._open_block(index, "hosted", dict(call))
                return NOTHING
            block = self._open_block(index, "call")
            return self.reply.start_call(block.key, text_in(call.get("toolUseId")), text_in(call.get("name")))
        if isinstance(result := start.get("toolResult"), dict):
            self._open_block(index, "result", {**result, "content": list_in(result.get("content"))})
        elif isinstance(image := start.get("image"), dict):
            self._open_block(index, "image", dict(image))
        return NOTHING

    def _block_delta(self, index: int, delta: dict[str, Any]) -> Events:
        if isinstance(text := delta.get("text"), str):
            return self._text_delta(index, text)
        if isinstance(call := delta.get("toolUse"), dict):
            return self._input_delta(index, text_in(call.get("input")))
        if isinstance(reasoning := delta.get("reasoningContent"), dict):
            return self._reasoning_delta(index, reasoning)
        if isinstance(citation := delta.get("citation"), dict):
            self._block_at(index, "text").citations.append(citation)
        elif isinstance(found := delta.get("toolResult"), list):
            self._block_at(index, "result").held.setdefault("content", []).extend(found)
        elif isinstance(image := delta.get("image"), dict):
            self._block_at(index, "image").held.update(image)
        return NOTHING

    def _text_delta(self, index: int, text: str) -> Events:
        block = self._open.get(index)
        if block is None or block is not self._current:
            self._block_at(index, "text")
        return self.reply.text(text)

    def _input_delta(self, index: int, piece: str) -> Events:
        block = self._open.get(index)
        if block is None or self.reply.ended:
            return NOTHING
        if block.kind == "call":
            return self.reply.append_args(block.key, piece)
        block.held["input"] = text_in(block.held.get("input")) + piece
        return NOTHING

    def _reasoning_delta(self, index: int, reasoning: dict[str, Any]) -> Events:
        block = self._block_at(index, "thinking")
        block.signature += text_in(reasoning.get("signature"))
        block.redacted += text_in(reasoning.get("redactedContent"))
        return self.reply.thinking(text_in(reasoning.get("text")))

    def _stop_block(self, index: int) -> Events:
        block = self._open.pop(index, None)
        if block is None:
            return NOTHING
        if block.draft is not None and block is not self._current:
            self.reply.resume(block.draft)
        self._current = None
        match block.kind:
            case "text":
                return self._stop_text(block)
            case "thinking":
                return self.reply.end_thinking(_thinking_marks(block.signature, block.redacted))
            case "call":
                return self.reply.complete_call(block.key)
            case "image":
                return self._image(block.held)
        name = "toolUse" if block.kind == "hosted" else "toolResult"
        if name == "toolUse":
            block.held["input"] = _parsed_input(text_in(block.held.get("input")))
        return self._opaque(name, block.held)

    def _stop_text(self, block: _GrowingBlock) -> Events:
        return self.reply.end_text({"citations": block.citations} if block.citations else None)

    # -- blocks that came whole

    def _whole_block(self, index: int, block: dict[str, Any]) -> Events:
        name, value = next(iter(block.items()), ("", None))
        held = dict_in(value)
        match name:
            case "text":
                return (*self._block_delta(index, {"text": text_in(value)}), *self._stop_block(index))
            case "reasoningContent":
                return self._whole_reasoning(index, held)
            case "toolUse" if held.get("type") != HOSTED:
                raw_id, called = text_in(held.get("toolUseId")), text_in(held.get("name"))
                return self.reply.whole_call(raw_id, called, held.get("input"), index)
            case "citationsContent":
                return self._whole_cited(index, held)
            case "image":
                return self._image(held)
            case "":
                return NOTHING
        return self._opaque(name, value)

    def _whole_cited(self, index: int, held: dict[str, Any]) -> Events:
        """Text with its sources."""
        said = "".join(text_in(dict_in(part).get("text")) for part in list_in(held.get("content")))
        events = self._block_delta(index, {"text": said})
        self._block_at(index, "text").citations += list_in(held.get("citations"))
        return (*events, *self._stop_block(index))

    def _whole_reasoning(self, index: int, held: dict[str, Any]) -> Events:
        shown = dict_in(held.get("reasoningText"))
        delta = {**shown, "redactedContent": held.get("redactedContent")}
        return (*self._reasoning_delta(index, delta), *self._stop_block(index))

    def _image(self, held: dict[str, Any]) -> Events:
        data = text_in(dict_in(held.get("source")).get("bytes"))
        if not data:
            return self._opaque("image", held)
        return self.reply.opaque(Media(f"image/{text_in(held.get('format')) or 'png'}", data))

    def _opaque(self, name: str, value: Any) -> Events:
        """Tools that Bedrock ran, and kinds that are not known yet: kept whole, for this model only."""
        residue = Residue(self.reply.origin, {"block": {name: value}})
        return self.reply.opaque(Opaque(name, words_of(name, value), residue))


def _thinking_marks(signature: str, redacted: str) -> dict[str, Any]:
    """What goes back with a thought. Models that sign nothing get their text back, or nothing."""
    if redacted:
        return {"redacted": redacted}
    return {"signature": signature} if signature else {"unsigned": True}


def _usage_in(counts: dict[str, Any]) -> Usage:
    return Usage(
        input=count_in(counts.get("inputTokens")),
        output=count_in(counts.get("outputTokens")),
        total=count_in(counts.get("totalTokens")),
        cached_input=count_in(counts.get("cacheReadInputTokens")),
        cache_write=count_in(counts.get("cacheWriteInputTokens")),
    )


def _parsed_input(text: str) -> Any:
    try:
        return loads(text) if text else {}
    except (ValueError, RecursionError):
        return text
