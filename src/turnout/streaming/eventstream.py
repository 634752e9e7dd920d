"""AWS event streams: binary messages, each with two checksums, that Bedrock answers with.

A message is a prelude (its length, the length of its headers, a CRC32 of these eight bytes), the
headers, the payload, and a CRC32 of everything before. The names of events and errors stand in the
headers. Both checksums are checked: a message that fails one is a `StreamError`, never a payload.
"""

from __future__ import annotations

import struct
from binascii import crc32
from collections.abc import Iterable, Mapping

import msgspec

from ..errors import StreamError
from .sse import Allowance, SseEvent

FIRST_BYTE = b"\0"
"""How every message begins: it is shorter than 16 MB, so the first byte of its length is zero."""
PRELUDE = 12
LEAST = 16  # a message without headers and payload
FAILED = "exception:"
"""How the `event` of a frame begins that holds an exception; the name of the exception follows."""

_TEXT = 7  # the type of a header whose value is text
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # of values, by type
_LISTED = (6, _TEXT)  # types whose value follows its length: bytes, text


class EventStreamDecoder:
    """Feed bytes as they come; get the payload of each message, under the name of its event."""

    def __init__(self, max_event: int, max_response: int) -> None:
        self._allowance = Allowance(max_event, max_response)
        self._held = bytearray()

    def feed(self, chunk: bytes) -> Iterable[SseEvent]:
        """The events that this chunk completes. Those before a damaged message come first."""
        self._held += self._allowance.grant(chunk)
        return self._allowance.hand_out(self._whole_events())

    def close(self) -> Iterable[SseEvent]:
        """The end of the bytes: half a message is dropped, and the decoder says that the reply was cut."""
        self._allowance.grant(b"")
        return ()

    def _whole_events(self) -> list[SseEvent]:
        events: list[SseEvent] = []
        at, data = 0, self._held
        try:
            while (size := self._size_at(at)) and at + size <= len(data):
                events.append(_event_of(bytes(data[at : at + size])))
                at += size
        except StreamError as damaged:
            self._allowance.failure = damaged
        del data[:at]
        return events

    def _size_at(self, at: int) -> int:
        """The size of the message that begins here; 0 where its prelude is not whole, or it is too long."""
        if len(self._held) - at < PRELUDE:
            return 0
        size, headers, checksum = struct.unpack_from(">III", self._held, at)
        if crc32(self._held[at : at + 8]) != checksum:
            raise _damage("the checksum of its lengths is wrong")
        if size < LEAST or headers > size - LEAST:
            raise _damage("its lengths contradict each other")
        return size if self._allowance.fits(size) else 0


def encode_message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message with these headers, all of them text."""
    head = b"".join(_encode_header(name.encode(), value.encode()) for name, value in headers.items())
    lengths = struct.pack(">II", LEAST + len(head) + len(payload), len(head))
    body = lengths + struct.pack(">I", crc32(lengths)) + head + payload
    return body + struct.pack(">I", crc32(body))


def _encode_header(name: bytes, value: bytes) -> bytes:
    return struct.pack(f">B{len(name)}sBH", len(name), name, _TEXT, len(value)) + value


def _event_of(message: bytes) -> SseEvent:
    """A whole message as an event. An exception is an event whose name says so."""
    if crc32(message[:-4]) != int.from_bytes(message[-4:]):
        raise _damage("its checksum is wrong")
    end = PRELUDE + int.from_bytes(message[4:8])
    headers = _read_headers(message[PRELUDE:end])
    payload = message[end:-4]
    match headers.get(":message-type"):
        case "exception":
            return SseEvent(payload, FAILED + headers.get(":exception-type", "unknown"))
        case "error":  # of the connection, without a payload
            said = msgspec.json.encode({"message": headers.get(":error-message", "")})
            return SseEvent(said, FAILED + headers.get(":error-code", "unknown"))
    return SseEvent(payload, headers.get(":event-type", ""))


def _read_headers(data: bytes) -> dict[str, str]:
    """The headers that are text. Headers of other types are passed over."""
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            name_end = at + 1 + data[at]
            name, kind, at = data[at + 1 : name_end].decode(), data[name_end], name_end + 1
            size = _SIZES.get(kind, -1)
            if kind in _LISTED:
                size, at = int.from_bytes(data[at : at + 2]), at + 2
            if size < 0 or at + size > len(data):
                raise _damage("a header is damaged")
            if kind == _TEXT:
                headers[name] = data[at : at + size].decode()
            at += size
    except (IndexError, UnicodeDecodeError):
        raise _damage("a header is damaged") from None
    return headers


def _damage(why: str) -> StreamError:
    return StreamError(f"the server sent a damaged message of an AWS event stream: {why}. Try again")
