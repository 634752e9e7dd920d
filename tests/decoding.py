"""A body through the frames and a decoder, as the runtime does it: bytes in, events and turn out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from turnout.model import ModelTurn, Origin
from turnout.plain import loads
from turnout.streaming.events import StreamEvent
from turnout.streaming.frames import FrameDecoder
from turnout.streaming.reply import ReplyBuilder
from turnout.wire.chat.decoder import ChatDecoder, ChatOptions
from turnout.wire.cohere.decoder import CohereDecoder
from turnout.wire.converse.decoder import ConverseDecoder
from turnout.wire.invoke.decoder import InvokeDecoder
from turnout.wire.ollama.decoder import OllamaDecoder
from turnout.wire.responses.decoder import ResponsesDecoder


class Decoder(Protocol):
    reply: ReplyBuilder

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]: ...

    def close(self) -> Iterable[StreamEvent]: ...

    def whole(self, body: Any) -> Iterable[StreamEvent]: ...


def origin(provider: str) -> Origin:
    return Origin(provider, "", "some-model")


def chat(provider: str = "openai", **options: Any) -> ChatDecoder:
    return ChatDecoder(origin(provider), "t.1", ChatOptions(**options))


def responses(provider: str = "openai-responses") -> ResponsesDecoder:
    return ResponsesDecoder(origin(provider), "t.1")


def ollama(provider: str = "ollama", **options: Any) -> OllamaDecoder:
    return OllamaDecoder(origin(provider), "t.1", ChatOptions(**options))


def cohere(provider: str = "cohere") -> CohereDecoder:
    return CohereDecoder(origin(provider), "t.1")


def decode(decoder: Decoder, *chunks: bytes) -> list[StreamEvent]:
    """The events of a body, however it is cut and framed."""
    frames = FrameDecoder()
    payloads = [frame for chunk in chunks for frame in frames.feed(chunk)]
    payloads += frames.close()
    if frames.kind == "json" and len(payloads) == 1 and _is_json(payloads[0].data):
        return list(decoder.whole(loads(payloads[0].data)))
    events = [event for frame in payloads for event in decoder.feed(frame.event, frame.data)]
    return [*events, *decoder.close()]


def _is_json(data: bytes) -> bool:
    try:
        loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def stream(decoder: Decoder, *payloads: Any) -> list[StreamEvent]:
    """The events of these payloads, then the end of the body. Text is sent as it is."""
    events = [event for payload in payloads for event in decoder.feed("", _bytes(payload))]
    return [*events, *decoder.close()]


def turn(decoder: Decoder, *payloads: Any) -> ModelTurn:
    """The turn that comes of these payloads."""
    stream(decoder, *payloads)
    return decoder.reply.turn()


def _bytes(payload: Any) -> bytes:
    return payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()


def cuts(body: bytes, seed: int, count: int) -> Iterator[list[bytes]]:
    """The body cut at random places, `count` times over."""
    chance = random.Random(f"{seed}-{len(body)}")
    for _ in range(count):
        places = sorted(chance.choices(range(len(body) + 1), k=chance.choice((1, 2, 5, 20))))
        yield [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]


def one_by_one(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


DECODERS: dict[str, Callable[[], Decoder]] = {
    "openai_chat": chat,
    "mistral": lambda: chat("mistral"),
    "openai_responses": responses,
    "ollama": ollama,
    "cohere": cohere,
    "bedrock_converse": lambda: ConverseDecoder(origin("bedrock"), "t.1"),
    "bedrock_invoke": lambda: InvokeDecoder(origin("bedrock@invoke"), "t.1"),
}
"""By family of recordings."""
