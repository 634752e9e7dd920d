"""Write a reply as Chat Completions, as chunks or whole.

Each call is complete in one delta, and the last chunk with a choice holds the token counts: so every client
reads them, also those that do not put pieces of a call together. Thinking is `reasoning_content`.
"""

from __future__ import annotations

from typing import Any

from ...errors import ProviderError, StreamError
from ...model import ModelTurn, Usage, block_text
from ..failure.error_words import chat_error
from ..shared.growing_bytes import Wire
from ..shared.reply_blocks import BlockStream, OpenBlock, json_bytes, json_text, whole_blocks

WORDS = {
    "end": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "refused": "content_filter",
}
"""All that clients know. A server's own word (`tool_use`, `eos`) would be no end for them."""
_FIELDS = {"text": b'{"content":', "thinking": b'{"reasoning_content":'}
_CHUNK_END = b'},"logprobs":null,"finish_reason":null}]}\n\n'


class ChatReply(BlockStream):
    """Feed events; get chunks."""

    _calls_written = 0
    _chunk_head = b""

    def start(self) -> bytes:
        base = {**self._base("chat.completion.chunk"), "choices": []}
        self._chunk_head = b"data: " + json_bytes(base)[:-2] + b'{"index":0,"delta":'
        return self._chunk_head + b'{"role":"assistant","content":""' + _CHUNK_END

    def open_block(self, block: OpenBlock) -> bytes:
        block.head = (self._chunk_head or (self.start() and self._chunk_head)) + _FIELDS.get(block.kind, b"")
        return b""

    def grow_block(self, block: OpenBlock, piece: str) -> bytes:
        if block.kind == "call" or not piece:
            return b""
        return block.head + json_text(piece) + _CHUNK_END

    def close_block(self, block: OpenBlock) -> bytes:
        if block.kind == "call":
            call = {"index": self._calls_written, **_call_entry(block)}
            self._calls_written += 1
            return block.head + json_bytes({"tool_calls": [call]})[:-1] + _CHUNK_END
        if block.kind == "other" and block.block is not None and (text := block_text(block.block)):
            return block.head + _FIELDS["text"] + json_text(text) + _CHUNK_END
        return b""

    def end(self) -> bytes:
        ended = self.done
        word = WORDS.get(ended.stop, "stop") if ended else "stop"
        choice: Wire = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": word}
        chunk = {**self._base("chat.completion.chunk"), "choices": [choice]}
        if self.facts.include_usage and self.usage is not None:
            chunk["usage"] = usage_counts(self.usage)
        return b"data: " + json_bytes(chunk) + b"\n\ndata: [DONE]\n\n"

    def fail(self, error: ProviderError | StreamError) -> bytes:
        """An error object and no `[DONE]`: clients raise their own error, or ask again."""
        self.failed = True
        return b"data: " + json_bytes({"error": chat_error(error)}) + b"\n\n"

    def whole(self, turn: ModelTurn) -> bytes:
        choice = {
            "index": 0,
            "message": _message(turn),
            "logprobs": None,
            "finish_reason": WORDS.get(turn.stop, "stop"),
        }
        completion = {**self._base("chat.completion"), "choices": [choice]}
        completion["usage"] = usage_counts(self.shown_usage(turn.usage) or Usage())
        return json_bytes(completion)

    def _base(self, kind: str) -> Wire:
        facts = self.facts
        return {"id": facts.id, "object": kind, "created": facts.created, "model": facts.model}


def _message(turn: ModelTurn) -> Wire:
    texts, thoughts, calls = [], [], []
    for block in whole_blocks(turn):
        match block.kind:
            case "text":
                texts.append(block.text)
            case "thinking":
                thoughts.append(block.text)
            case "call":
                calls.append(_call_entry(block))
            case _:
                texts.append(block_text(block.as_block()))
    message: Wire = {"role": "assistant", "content": "".join(texts) or (None if calls else "")}
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    return message


def _call_entry(block: OpenBlock) -> Wire:
    function: dict[str, Any] = {"name": block.name, "arguments": block.text or "{}"}
    return {"id": block.id, "type": "function", "function": function}


def usage_counts(usage: Usage) -> Wire:
    """Token counts under the names of Chat Completions."""
    details: Wire = {"cached_tokens": usage.cached_input or 0}
    if usage.cache_write is not None:
        details["cache_write_tokens"] = usage.cache_write
    total = (usage.input or 0) + (usage.output or 0)
    return {
        "prompt_tokens": usage.input or 0,
        "completion_tokens": usage.output or 0,
        "total_tokens": total if usage.total is None else usage.total,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
    }
