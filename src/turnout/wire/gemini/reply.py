"""Write a reply as Gemini does: chunks of parts as server-sent events or one growing array, or whole.

Nothing but `data:` lines is sent: Gemini CLI breaks on comments. Calls come whole. The first call of a
step carries the signature, because clients send that one back: thoughts do not come back.
"""

from __future__ import annotations

from typing import Any

from ...errors import ProviderError, StreamError
from ...model import Media, ModelTurn, Usage, block_text
from ...plain import list_in
from ..failure.error_words import gemini_error
from ..shared.growing_bytes import Wire
from ..shared.reply_blocks import BlockStream, OpenBlock, json_bytes, json_text, stop_word, whole_blocks
from .decoder import STOPS

WORDS = {
    "end": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "refused": "SAFETY",
    "error": "MALFORMED_FUNCTION_CALL",
    "other": "OTHER",
}


class GeminiReply(BlockStream):
    """Feed events; get chunks of `streamGenerateContent`."""

    _chunks = 0
    _held = ""  # what thinking carries, until a call or a text can take it
    _has_signed = False

    def start(self) -> bytes:
        return b""

    def open_block(self, block: OpenBlock) -> bytes:
        return b""

    def grow_block(self, block: OpenBlock, piece: str) -> bytes:
        if not piece or block.kind not in ("text", "thinking"):
            return b""
        mark = b',"thought":true}' if block.kind == "thinking" else b"}"
        head = b'{"candidates":[{"content":{"parts":[{"text":'
        tail = b'],"role":"model"},"index":0}],"modelVersion":%s,"responseId":%s}' % self._names
        return self._frame(head + json_text(piece) + mark + tail)

    def close_block(self, block: OpenBlock) -> bytes:
        parts = self._closing_parts(block)
        return self._chunk(parts) if parts else b""

    def end(self) -> bytes:
        ended = self.done
        word = stop_word(STOPS, WORDS, _own_stop(ended.stop), ended.raw_stop) if ended else "STOP"
        last = [{"text": "", "thoughtSignature": self._held}] if self._held and not self._has_signed else []
        closing = self._chunk(last or [{"text": ""}], finishReason=word)
        return closing + (b"]" if self.facts.as_array else b"")

    def fail(self, error: ProviderError | StreamError) -> bytes:
        """The error, and no finish reason: Gemini CLI asks again, the SDK raises its own error."""
        self.failed = True
        frame = self._frame(json_bytes({"error": gemini_error(error)}))
        return frame + (b"]" if self.facts.as_array else b"")

    def whole(self, turn: ModelTurn) -> bytes:
        parts = [part for block in whole_blocks(turn) for part in self._whole_parts(block)]
        if self._held and not self._has_signed:
            parts.append({"text": "", "thoughtSignature": self._held})
        word = stop_word(STOPS, WORDS, _own_stop(turn.stop), turn.raw_stop)
        return json_bytes(self._response(parts, self.shown_usage(turn.usage), finishReason=word))

    # -- parts

    def _closing_parts(self, block: OpenBlock) -> list[Wire]:
        """What is still to be said of a block whose text was streamed."""
        match block.kind:
            case "thinking":
                return self._thought_end(block)
            case "text":
                token = self._token(block) if block.residue is not None else ""
                return [{"text": "", "thoughtSignature": token}] if token else []
        return self._whole_parts(block)

    def _whole_parts(self, block: OpenBlock) -> list[Wire]:
        match block.kind:
            case "text":
                token = self._token(block) if block.residue is not None else ""
                signed = {"thoughtSignature": token} if token else {}
                return [{"text": block.text, **signed}] if block.pieces or token else []
            case "thinking":
                said = [{"text": block.text, "thought": True}] if block.pieces else []
                return [*said, *self._thought_end(block)]
            case "call":
                return [self._call_part(block)]
        return self._other_parts(block)

    def _thought_end(self, block: OpenBlock) -> list[Wire]:
        token = self._token(block)
        self._held = token or self._held
        return []

    def _call_part(self, block: OpenBlock) -> Wire:
        function: Wire = {"name": block.name, "args": block.arguments}
        if block.id:
            function["id"] = block.id
        part: Wire = {"functionCall": function}
        is_first, self._has_signed = not self._has_signed, True
        token = self._token(block) if is_first or self.facts.carry is None else ""
        if not token and is_first:
            token = self._held
        if token:
            part["thoughtSignature"] = token
        return part

    def _other_parts(self, block: OpenBlock) -> list[Wire]:
        if own := [part for part in list_in(block.data.get("parts")) if isinstance(part, dict)]:
            return own
        if isinstance(block.block, Media) and block.block.data:
            return [{"inlineData": {"mimeType": block.block.mime, "data": block.block.data}}]
        text = block_text(block.as_block())
        return [{"text": text}] if text else []

    def _token(self, block: OpenBlock) -> str:
        return self.carried_string(block, lambda data: data.get("thought_signature"))

    # -- chunks

    @property
    def _names(self) -> tuple[bytes, bytes]:
        return json_text(self.facts.model), json_text(self.facts.id)

    def _chunk(self, parts: list[Wire], **ends: Any) -> bytes:
        usage = self.usage if ends else None
        return self._frame(json_bytes(self._response(parts, usage, **ends)))

    def _response(self, parts: list[Wire], usage: Usage | None, **ends: Any) -> Wire:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **ends}
        response: Wire = {"candidates": [candidate]}
        if usage is not None and self.facts.include_usage:
            response["usageMetadata"] = usage_counts(usage)
        return {**response, "modelVersion": self.facts.model, "responseId": self.facts.id}

    def _frame(self, payload: bytes) -> bytes:
        self._chunks += 1
        if not self.facts.as_array:
            return b"data: " + payload + b"\r\n\r\n"
        return (b"[" if self._chunks == 1 else b",\r\n") + payload


def _own_stop(stop: Any) -> Any:
    """Gemini ends a reply with calls by the same word as one without."""
    return "end" if stop == "tool_calls" else stop


def usage_counts(usage: Usage) -> Wire:
    """Token counts under the names of Gemini."""
    total = (usage.input or 0) + (usage.output or 0) + (usage.reasoning or 0)
    counts: Wire = {
        "promptTokenCount": usage.input or 0,
        "candidatesTokenCount": usage.output or 0,
        "totalTokenCount": total if usage.total is None else usage.total,
    }
    if usage.cached_input is not None:
        counts["cachedContentTokenCount"] = usage.cached_input
    if usage.reasoning is not None:
        counts["thoughtsTokenCount"] = usage.reasoning
    return counts
