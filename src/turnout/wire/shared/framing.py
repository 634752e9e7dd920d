"""Events of a stream as bytes, in the framing of each protocol and with the oddities of real servers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...streaming.eventstream import FAILED, encode_message

Framing = Literal["sse", "lines", "array", "eventstream"]
encode = msgspec.json.Encoder().encode

CONTENT_TYPES: dict[Framing, str] = {
    "sse": "text/event-stream; charset=utf-8",
    "lines": "application/x-ndjson",
    "array": "application/json; charset=UTF-8",
    "eventstream": "application/vnd.amazon.eventstream",
}


JSON_CONTENT = {":content-type": "application/json"}


class Frame(Struct, frozen=True):
    """One event: its payload and, in some protocols, its name; or a comment."""

    data: bytes = b""
    event: str = ""
    comment: str = ""


class Stream(Struct, frozen=True):
    """A reply as events. Without the `ending` a reader must treat it as cut off."""

    body: tuple[Frame, ...]
    ending: tuple[Frame, ...]
    framing: Framing = "sse"
    newline: str = "\n"


def frame(payload: Any, event: str = "") -> Frame:
    return Frame(encode(payload), event)


def encode_frames(frames: Sequence[Frame], stream: Stream, odd: Collection[str] = ()) -> Iterator[bytes]:
    """The bytes of each frame, in order."""
    if stream.framing == "array":
        yield from _array(frames)
        return
    for at, item in enumerate(frames):
        if stream.framing == "lines":
            yield item.data + b"\n" if item.data else b""
            continue
        if stream.framing == "eventstream":
            yield _message(item) if item.data else b""
            continue
        text = _event_bytes(item, stream, odd)
        if at == 0 and "bom" in odd:
            text = b"\xef\xbb\xbf" + text
        if at == len(frames) - 1 and "no_last_line" in odd:
            text = text.rstrip(b"\r\n")
        yield text


def _array(frames: Sequence[Frame]) -> Iterator[bytes]:
    """Gemini without `alt=sse`: one JSON array that grows."""
    for at, item in enumerate(frame for frame in frames if frame.data):
        yield (b",\r\n" if at else b"[") + item.data
    yield b"]"


def _message(item: Frame) -> bytes:
    """A message of an AWS event stream. Bedrock names an exception in another header than an event."""
    if item.event.startswith(FAILED):
        name = {":exception-type": item.event.removeprefix(FAILED)}
        return encode_message({**name, **JSON_CONTENT, ":message-type": "exception"}, item.data)
    return encode_message({":event-type": item.event, **JSON_CONTENT, ":message-type": "event"}, item.data)


def _event_bytes(item: Frame, stream: Stream, odd: Collection[str]) -> bytes:
    newline = "\r" if "cr" in odd else "\r\n" if "crlf" in odd else stream.newline
    if item.comment:
        return f": {item.comment}{newline}{newline}".encode()
    lines = [f"event: {item.event}"] if item.event else []
    colon = b"data:" if "no_space" in odd else b"data: "
    payload = [colon + line for line in _payload(item.data, odd)]
    comment = [b": keep-alive"] if "comments" in odd else []
    return newline.encode().join([*comment, *(line.encode() for line in lines), *payload, b"", b""])


def _payload(data: bytes, odd: Collection[str]) -> list[bytes]:
    if "padding" in odd and data.endswith(b"}"):
        data = data[:-1] + b"    }"
    if "two_lines" in odd and data.startswith(b"{"):
        return [data[:1], data[1:]]
    return [data]


def pieces(text: str, size: int = 12) -> list[str]:
    """A text as a model streams it: a few letters at a time, cut before a space if possible."""
    cut: list[str] = []
    start = 0
    while start < len(text):
        space = text.find(" ", start + size, start + size + 8)
        end = space if space > 0 else start + size
        cut.append(text[start:end])
        start = end
    return cut
