"""Replies written again for the clients of each protocol, and read back: what every test of them needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.decoding import DECODERS, Decoder, chat, decode, origin, responses

from turnout import ReplyEncoder
from turnout.model import Code, Media, ModelTurn, Opaque, Text, Thinking, ToolCall, Usage, block_text
from turnout.streaming.events import Done, StreamEvent
from turnout.wire.anthropic.decoder import AnthropicDecoder
from turnout.wire.gemini.decoder import GeminiDecoder

PROTOCOLS = ("chat", "responses", "anthropic", "gemini")
READERS: dict[str, Callable[[], Decoder]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": lambda: AnthropicDecoder(origin("anthropic"), "t.1"),
    "gemini": lambda: GeminiDecoder(origin("gemini"), "t.1"),
}
RECORDED: dict[str, Callable[[], Decoder]] = {
    **{name: DECODERS[name] for name in ("openai_chat", "openai_responses", "mistral", "ollama")},
    "anthropic": READERS["anthropic"],
    "gemini": READERS["gemini"],
}
"""The decoder of each family of the corpus."""


def streamed(protocol: str, events: Iterable[StreamEvent], **options: Any) -> bytes:
    """The stream that a client of this protocol gets."""
    encoder = ReplyEncoder(protocol, **{"model": "some-model", "id": "r1", **options})
    parts = [encoder.start(), *(encoder.feed(event) for event in events), encoder.end()]
    return b"".join(parts)


def whole_body(protocol: str, turn: ModelTurn, **options: Any) -> bytes:
    return ReplyEncoder(protocol, **{"model": "some-model", "id": "r1", **options}).whole(turn)


def read_back(protocol: str, body: bytes) -> ModelTurn:
    decoder = READERS[protocol]()
    events = decode(decoder, body)
    assert isinstance(events[-1], Done), events[-1]
    return decoder.reply.turn()


def sense_of(turn: ModelTurn, protocol: str = "") -> tuple[Any, ...]:
    """What a client must find in the reply: text, thinking, calls, why it ended, what it counted.

    Other blocks are text to a client of another API, so spaces between blocks do not count. Counts
    that are missing are nought there.
    """
    calls = [(call.name, call.arguments) for call in turn.tool_calls]
    text = "".join(_text_of(block) for block in turn.blocks if not isinstance(block, ToolCall | Thinking))
    usage = turn.usage or Usage()
    stop = turn.stop if turn.stop in ("end", "tool_calls", "length", "refused") else "end"
    return (
        "".join(text.split()),
        turn.thinking,
        calls,
        stop,
        (usage.input or 0, usage.output or 0, usage.cached_input or 0),
    )


def _text_of(block: Text | Opaque | Media | Code) -> str:
    return "" if isinstance(block, Media) else block_text(block)
