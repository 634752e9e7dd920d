"""HTTP clients that answer at once and in process: what a library costs, without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import msgspec


class Canned:
    """Gives the same reply to every request, and keeps the bytes of the last one.

    `http` is the client library that a peer uses: httpx, or its fork httpx2.
    """

    def __init__(self, reply: Any = None, *, chunks: Sequence[bytes] = ()) -> None:
        self.sent = b""
        self._reply = msgspec.json.encode(reply)
        self.chunks = chunks

    def client(self, http: Any) -> Any:
        def answer(request: Any) -> Any:
            self.sent = request.content
            if not self.chunks:
                return http.Response(200, headers=JSON, content=self._reply)
            return http.Response(200, headers=EVENTS, content=self._pieces())

        return http.Client(transport=http.MockTransport(answer))

    def async_client(self, http: Any) -> Any:
        async def answer(request: Any) -> Any:
            self.sent = request.content
            if not self.chunks:
                return http.Response(200, headers=JSON, content=self._reply)
            return http.Response(200, headers=EVENTS, content=self._pieces_later())

        return http.AsyncClient(transport=http.MockTransport(answer))

    def _pieces(self) -> Iterator[bytes]:
        yield from self.chunks

    async def _pieces_later(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream"}

CHAT_REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "gpt-5.1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
ANTHROPIC_REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "ok"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
GEMINI_REPLY = {
    "candidates": [
        {"content": {"parts": [{"text": "ok"}], "role": "model"}, "finishReason": "STOP", "index": 0}
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    "modelVersion": "gemini-2.5-pro",
    "responseId": "r1",
}
