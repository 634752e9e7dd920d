"""AWS event streams: every message comes out once it is whole, and a damaged one is an error."""

from __future__ import annotations

import struct
from binascii import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from turnout.errors import StreamError
from turnout.streaming.eventstream import FAILED, EventStreamDecoder, encode_message
from turnout.streaming.frames import Frame, FrameDecoder

headers = st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=40), max_size=4)
messages = st.lists(st.tuples(headers, st.binary(max_size=60)), min_size=1, max_size=4)


def event(name: str, payload: bytes) -> bytes:
    return encode_message({":event-type": name, ":message-type": "event"}, payload)


def frames_of(*chunks: bytes) -> list[Frame]:
    decoder = FrameDecoder()
    seen = [frame for chunk in chunks for frame in decoder.feed(chunk)]
    seen += decoder.close()
    assert decoder.kind == "eventstream"
    return seen


BODY = event("messageStart", b'{"role":"assistant"}') + event("contentBlockDelta", b'{"delta":{"text":"hi"}}')


@given(messages)
def test_botocore_reads_what_we_write(written: list[tuple[dict[str, str], bytes]]) -> None:
    """Headers and payloads are the same, message by message."""
    buffer = EventStreamBuffer()
    buffer.add_data(b"".join(encode_message(head, payload) for head, payload in written))
    read = [(dict(message.headers), message.payload) for message in buffer]
    assert read == written


@pytest.mark.parametrize("at", range(len(BODY) + 1))
def test_every_cut_gives_the_same_events(at: int) -> None:
    """A body cut in two anywhere is the body."""
    assert frames_of(BODY[:at], BODY[at:]) == [
        Frame(b'{"role":"assistant"}', "messageStart"),
        Frame(b'{"delta":{"text":"hi"}}', "contentBlockDelta"),
    ]


@given(st.integers(0, len(BODY) - 1), st.integers(1, 255))
def test_a_changed_byte_is_never_read(at: int, change: int) -> None:
    """Whatever byte is damaged, the messages before it are whole and then the stream fails."""
    damaged = bytearray(BODY)
    damaged[at] ^= change
    decoder, seen = EventStreamDecoder(10_000, 10_000), []
    with pytest.raises(StreamError, match="damaged message"):
        for frame in decoder.feed(bytes(damaged)):
            seen.append(frame)
    assert seen == frames_of(BODY)[: at >= len(event("messageStart", b'{"role":"assistant"}'))]


def test_an_exception_is_an_event_that_says_so() -> None:
    """Its type stands in a header, its message in the payload."""
    body = encode_message(
        {":exception-type": "throttlingException", ":message-type": "exception"}, b'{"message":"slow down"}'
    )
    assert frames_of(body) == [Frame(b'{"message":"slow down"}', f"{FAILED}throttlingException")]


def test_an_error_of_the_connection_has_its_message_in_a_header() -> None:
    """There is no payload then."""
    fields = {":message-type": "error", ":error-code": "InternalError", ":error-message": "An error"}
    body = encode_message(fields, b"")
    assert frames_of(body) == [Frame(b'{"message":"An error"}', f"{FAILED}InternalError")]


def test_headers_of_other_types_are_passed_over() -> None:
    """A flag, a number, a time and bytes stand before the name of the event."""
    head = b"\x01a\x00" + b"\x01b\x04\0\0\0\x07" + b"\x01c\x08" + bytes(8) + b"\x01d\x06\0\x02xy"
    head += b"\x0b:event-type\x07\0\x04ping"
    lengths = struct.pack(">II", 16 + len(head), len(head))
    body = lengths + struct.pack(">I", crc32(lengths)) + head
    assert frames_of(body + struct.pack(">I", crc32(body))) == [Frame(b"", "ping")]


def test_a_message_that_is_too_long_is_refused_before_it_is_held() -> None:
    """Its prelude names the length."""
    with pytest.raises(StreamError, match="longer than 50 bytes"):
        list(EventStreamDecoder(50, 10_000).feed(event("chunk", bytes(100))[:20]))


def test_half_a_message_at_the_end_is_dropped() -> None:
    """The decoder of the reply says that it was cut."""
    assert frames_of(BODY[:-1]) == frames_of(BODY)[:1]
