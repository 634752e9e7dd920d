"""Write a reply as Anthropic does: a message of content blocks, as events or whole.

A client finds a block by its index, and takes its end from `content_block_stop`. Every event has its
`event:` line: Claude Code reads nothing without it. What belongs to thinking goes into its signature, or
into `redacted_thinking` where there is no text: clients send both back unchanged.
"""

from __future__ import annotations

from typing import Any

from ...errors import ProviderError, StreamError
from ...model import ModelTurn, Opaque, Usage, block_text
from ...plain import dict_in
from ..failure.error_words import anthropic_error
from ..shared.growing_bytes import Wire
from ..shared.reply_blocks import BlockStream, OpenBlock, json_bytes, json_text, stop_word, whole_blocks
from .decoder import STOPS

WORDS: dict[str, str] = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refused": "refusal",
    "paused": "pause_turn",
}
_DELTAS = {
    "text": b'{"type":"text_delta","text":',
    "thinking": b'{"type":"thinking_delta","thinking":',
    "call": b'{"type":"input_json_delta","partial_json":',
}


class AnthropicReply(BlockStream):
    """Feed events; get the events of the Messages API."""

    def start(self) -> bytes:
        counts = {"input_tokens": 0, "output_tokens": 0}
        message = {**self._message([], counts), "stop_reason": None}
        return _event("message_start", message=message)

    def open_block(self, block: OpenBlock) -> bytes:
        if (start := self._block_start(block)) is None:
            return b""
        block.head = (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":'
            % block.wire["index"]
        ) + _DELTAS.get(block.kind, b"")
        return _event("content_block_start", index=block.wire["index"], content_block=start)

    def grow_block(self, block: OpenBlock, piece: str) -> bytes:
        return block.head + json_text(piece) + b"}}\n\n" if piece else b""

    def close_block(self, block: OpenBlock) -> bytes:
        if not block.wire:
            return b""
        index, out = block.wire["index"], b""
        if block.kind == "thinking" and block.pieces and (token := self._token(block)):
            delta = {"type": "signature_delta", "signature": token}
            out = _event("content_block_delta", index=index, delta=delta)
        if block.wire.get("deltas"):
            for delta in block.wire["deltas"]:
                out += _event("content_block_delta", index=index, delta=delta)
        return out + _event("content_block_stop", index=index)

    def end(self) -> bytes:
        ended = self.done
        word = stop_word(STOPS, WORDS, ended.stop, ended.raw_stop) if ended else "end_turn"
        delta = {"stop_reason": word, "stop_sequence": None}
        return _event("message_delta", delta=delta, usage=usage_counts(self.usage)) + _event("message_stop")

    def fail(self, error: ProviderError | StreamError) -> bytes:
        """Claude Code asks again after this, and shows nothing of the first try."""
        self.failed = True
        return _event("error", error=anthropic_error(error))

    def whole(self, turn: ModelTurn) -> bytes:
        content = [wire for block in whole_blocks(turn) if (wire := self._whole_block(block)) is not None]
        message = self._message(content, usage_counts(self.shown_usage(turn.usage)))
        message["stop_reason"] = stop_word(STOPS, WORDS, turn.stop, turn.raw_stop)
        return json_bytes(message)

    def _message(self, content: list[Wire], counts: Wire) -> Wire:
        return {
            "id": self.facts.id,
            "type": "message",
            "role": "assistant",
            "model": self.facts.model,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": counts,
        }

    # -- blocks

    def _block_start(self, block: OpenBlock) -> Wire | None:
        """The block as it begins; None where there is nothing to show. Its index is noted."""
        wire = self._empty_block(block) if not block.done or block.pieces else self._whole_block(block)
        if wire is not None:
            block.wire["index"] = self._next_index()
            if wire["type"] == "text" and wire["text"] and not block.pieces:  # a block that came whole
                block.wire["deltas"] = [{"type": "text_delta", "text": wire["text"]}]
                return {**wire, "text": ""}
        return wire

    _index = -1

    def _next_index(self) -> int:
        self._index += 1
        return self._index

    def _empty_block(self, block: OpenBlock) -> Wire | None:
        match block.kind:
            case "text":
                return {"type": "text", "text": ""}
            case "thinking":
                return {"type": "thinking", "thinking": "", "signature": ""}
            case "call":
                return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        return self._whole_block(block)

    def _whole_block(self, block: OpenBlock) -> Wire | None:
        match block.kind:
            case "text":
                return self._text_block(block)
            case "thinking" if block.pieces:
                return {"type": "thinking", "thinking": block.text, "signature": self._token(block)}
            case "thinking":
                token = self._token(block)
                return {"type": "redacted_thinking", "data": token} if token else None
            case "call":
                return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
        assert block.block is not None
        if isinstance(block.block, Opaque) and (own := _own_block(block)):
            return own
        text = block_text(block.block)
        return {"type": "text", "text": text} if text else None

    def _text_block(self, block: OpenBlock) -> Wire | None:
        citations = block.data.get("citations")
        if not block.pieces and not citations:
            return None
        return {"type": "text", "text": block.text, **({"citations": citations} if citations else {})}

    def _token(self, block: OpenBlock) -> str:
        return self.carried_string(block, lambda data: data.get("signature") or data.get("redacted"))


def _own_block(block: OpenBlock) -> Wire:
    """A block of Anthropic itself, such as a tool that it ran."""
    own = dict_in(block.data.get("block"))
    return own if own.get("type") else {}


def usage_counts(usage: Usage | None) -> Wire:
    """Token counts under the names of Anthropic."""
    counted = usage or Usage()
    counts: Wire = {
        "input_tokens": counted.input or 0,
        "cache_creation_input_tokens": counted.cache_write or 0,
        "cache_read_input_tokens": counted.cached_input or 0,
        "output_tokens": counted.output or 0,
    }
    if counted.reasoning is not None:
        counts["output_tokens_details"] = {"thinking_tokens": counted.reasoning}
    return counts


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), json_bytes({"type": kind, **fields}))
