"""A stream as it really arrives: frames, pauses and faults.

The result is a list of chunks of bytes, pauses and breaks. Two modules play it in time:
`scripted` in one process, `server` over a socket.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from ..wire.shared.framing import Frame, Stream, encode_frames
from .script import Delay, Fault, Garble, MidStreamError, Pings, Repeat, Reset, Split, Stall, Truncate


class Pause(Struct, frozen=True):
    """No bytes for this long."""

    seconds: float


class Break(Struct, frozen=True):
    """The connection breaks."""


Piece: TypeAlias = bytes | Pause | Break
_Event: TypeAlias = Frame | Pause | Break

PING = Frame(comment="ping")


def play_stream(
    stream: Stream, faults: Iterable[Fault] = (), odd: Collection[str] = (), error: Iterable[Frame] = ()
) -> Iterator[Piece]:
    """The pieces of a stream with its faults. `error`: the frames of a failure of this provider."""
    faults = tuple(faults)
    events: list[_Event] = [*stream.body]
    whole = True
    for fault in sorted(faults, key=lambda fault: _position_of(fault, events), reverse=True):
        whole = _apply_fault(events, fault, tuple(error)) and whole
    pieces = _pieces_of_events([*events, *(stream.ending if whole else ())], stream, odd)
    for split in [fault for fault in faults if isinstance(fault, Split)][:1]:
        pieces = _resize_chunks(pieces, split.size)
    yield from pieces


def play_whole(body: bytes, faults: Iterable[Fault] = ()) -> Iterator[Piece]:
    """The pieces of a body that is not streamed: it can be late, truncated or broken off."""
    faults = tuple(faults)
    for fault in faults:
        match fault:
            case Stall(seconds):
                yield Pause(seconds)
            case Pings(count, every):
                for _ in range(count):  # DeepSeek and OpenRouter send blank lines while they work
                    yield b"\n"
                    yield Pause(every)
            case Truncate() | Garble():
                yield body[: len(body) // 2]
                return
            case Reset():
                yield body[: len(body) // 2]
                yield Break()
                return
            case _:
                pass
    sizes = [fault.size for fault in faults if isinstance(fault, Split)]
    yield from _resize_chunks(iter([body]), sizes[0]) if sizes else (body,)


def _position_of(fault: Fault, events: list[_Event]) -> int:
    after = fault.at if isinstance(fault, Repeat) else getattr(fault, "after", None)
    return len(events) if after is None else min(after, len(events))


def _apply_fault(events: list[_Event], fault: Fault, error: tuple[Frame, ...]) -> bool:
    """Apply one fault to the events; returns whether the reply still ends normally."""
    at = _position_of(fault, events)
    match fault:
        case Stall(seconds):
            events.insert(at, Pause(seconds))
        case Pings(count, every):
            events[at:at] = [event for _ in range(count) for event in (Pause(every), PING)]
        case Repeat():
            events[at:at] = events[max(at - 1, 0) : at]
        case Garble():
            events.insert(at, Frame(b'{"text": "\xff\xfe' if fault.bytes else b'{"half":'))
        case Truncate():
            del events[at:]
        case Reset():
            events[at:] = [Break()]
        case MidStreamError():
            events[at:] = error
        case Delay() | Split():
            pass
    return not isinstance(fault, Truncate | Reset | MidStreamError)


def first_byte_delay(faults: Iterable[Fault]) -> float:
    """How late the first byte is, in seconds."""
    return sum(fault.seconds for fault in faults if isinstance(fault, Delay))


def _pieces_of_events(events: list[_Event], stream: Stream, odd: Collection[str]) -> Iterator[Piece]:
    frames = [event for event in events if isinstance(event, Frame)]
    texts = encode_frames(frames, stream, odd)
    for event in events:
        if not isinstance(event, Frame):
            yield event
        elif text := next(texts):
            yield text
    if not any(isinstance(event, Break) for event in events):
        yield from texts  # the end of an array


def _resize_chunks(pieces: Iterator[Piece], size: int) -> Iterator[Piece]:
    """The same bytes in chunks of another size; pauses stay where they are."""
    held = b""
    for piece in pieces:
        if isinstance(piece, bytes):
            held += piece
            continue
        yield from _chunks_of(held, size)
        held = b""
        yield piece
    yield from _chunks_of(held, size)


def _chunks_of(data: bytes, size: int) -> Iterator[bytes]:
    if size <= 0:
        yield from [data] if data else []
        return
    yield from (data[at : at + size] for at in range(0, len(data), size))
