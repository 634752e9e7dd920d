"""Run a decoder over bytes as a driver would, and look at the reply from outside."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from turnout.model import ModelTurn, Origin
from turnout.plain import loads
from turnout.streaming.events import StreamEvent
from turnout.streaming.frames import FrameDecoder
from turnout.streaming.reply import ReplyBuilder

ORIGIN = Origin("provider", "", "model")
FIXTURES = Path(__file__).parent / "fixtures"


class Decoder(Protocol):
    reply: ReplyBuilder

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]: ...

    def whole(self, body: Any) -> Iterable[StreamEvent]: ...

    def close(self) -> Iterable[StreamEvent]: ...


Decoding = Callable[[Origin, str], Decoder]


def decoded(decoding: Decoding, chunks: Iterable[bytes]) -> tuple[list[StreamEvent], ReplyBuilder]:
    """The events of a body in whichever framing, and the reply that came of them."""
    decoder = decoding(ORIGIN, "turn")
    frames = FrameDecoder()
    found = [frame for chunk in chunks for frame in frames.feed(chunk)]
    found += frames.close()
    if frames.kind == "json" and len(found) == 1:
        return list(decoder.whole(loads(found[0].data))), decoder.reply
    events = [event for frame in found for event in decoder.feed(frame.event, frame.data)]
    return [*events, *decoder.close()], decoder.reply


def turn_of(decoding: Decoding, *chunks: bytes) -> ModelTurn:
    return decoded(decoding, chunks)[1].turn()


def rebuilt(events: Iterable[StreamEvent]) -> ModelTurn:
    """The turn as someone puts it together who has seen the events alone."""
    builder = ReplyBuilder(ORIGIN, "turn")
    for event in events:
        builder.feed(event)
    return builder.turn()


def said(turn: ModelTurn) -> tuple[Any, ...]:
    """What a reader of the turn sees, whoever put it together."""
    calls = [(call.id, call.name, call.arguments, call.fault) for call in turn.tool_calls]
    return turn.text, turn.thinking, calls, turn.stop, turn.raw_stop, turn.usage


def differences(turn: ModelTurn, oracle: dict[str, Any]) -> list[str]:
    """Where the turn and the oracle disagree; counts that the oracle leaves out are not compared."""
    result = oracle["result"]
    calls = [(call.name, call.arguments) for call in turn.tool_calls]
    expected = [(call["name"], call["arguments"]) for call in result["tool_calls"]]
    pairs = [
        ("text", turn.text, result["text"]),
        ("thinking", turn.thinking, result["thinking"]),
        ("calls", calls, expected),
        ("finish reason", turn.raw_stop, result["finish_reason"] or ""),
    ]
    for name in ("input", "output", "total", "cached_input", "reasoning"):
        count = (result["usage"] or {}).get(name)
        if count is not None:
            pairs.append((f"usage.{name}", getattr(turn.usage, name, None), count))
    return [f"{what}: {ours!r} is not {theirs!r}" for what, ours, theirs in pairs if ours != theirs]


def fixtures(provider: str) -> list[Path]:
    """Streams written after real ones; each has the events it gives beside it."""
    folder = FIXTURES / provider
    return sorted(path for path in folder.iterdir() if not path.name.endswith(".events.json"))


def expected_events(path: Path) -> Any:
    return loads(path.with_suffix(".events.json").read_bytes())


def plain_events(events: Iterable[StreamEvent]) -> list[Any]:
    return [msgspec.to_builtins(event) for event in events]


def two_way_cuts(body: bytes) -> Iterator[list[bytes]]:
    return ([body[:at], body[at:]] for at in range(1, len(body)))


def random_cuts(body: bytes, count: int, seed: str) -> Iterator[list[bytes]]:
    """The body in pieces, `count` times differently."""
    dice = random.Random(seed)
    for _ in range(count):
        places = sorted(dice.randrange(len(body) + 1) for _ in range(dice.randint(1, 30)))
        yield [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]
