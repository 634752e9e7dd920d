"""Responses of HTTP/1.1: any cut of the bytes gives the same one, and no bytes give two."""

from __future__ import annotations

from contextlib import suppress

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.world.http_response import ResponseFault, ResponseReader

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


def read(*pieces: bytes, method: str = "POST", ended: bool = False) -> ResponseReader:
    reader = ResponseReader(method)
    for piece in pieces:
        reader.feed(piece)
    if ended:
        reader.close()
    return reader


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


WHOLE = {
    "chunked": (CHUNKED + chunk(b"one") + chunk(b"two") + b"0\r\n\r\n", b"onetwo"),
    "chunked with extensions": (CHUNKED + b"3;a=b\r\none\r\n0;x\r\n\r\n", b"one"),
    "chunked with trailers": (CHUNKED + chunk(b"one") + b"0\r\nx: y\r\nz: \r\n\r\n", b"one"),
    "counted": (OK + b"content-length: 6\r\n\r\nonetwo", b"onetwo"),
    "counted twice alike": (OK + b"content-length: 3\r\ncontent-length: 3\r\n\r\none", b"one"),
    "empty": (OK + b"content-length: 0\r\n\r\n", b""),
    "no content": (b"HTTP/1.1 204 No\r\n\r\n", b""),
    "after a note": (b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + OK + b"content-length: 1\r\n\r\nx", b"x"),
    "without a reason": (b"HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx", b"x"),
    "lines that end with LF": (b"HTTP/1.1 200 OK\ncontent-length: 1\n\nx", b"x"),
}


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
def test_any_cut_gives_the_same_response(name: str, data: st.DataObject) -> None:
    """Whether bytes come alone or together, head, body and end are the same."""
    sent, body = WHOLE[name]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(sent) - 1))))
    pieces = [sent[a:b] for a, b in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    reader = read(*pieces)
    assert reader.head is not None and b"".join(reader.body) == body
    assert reader.is_complete and reader.can_be_followed


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("excess", [b"H", b"\r\n", OK])
@pytest.mark.parametrize("at_once", [True, False])
def test_bytes_behind_the_end_are_noticed(name: str, excess: bytes, at_once: bool) -> None:
    """What nothing asked for is no part of the body, and the connection carries no further request."""
    sent, body = WHOLE[name]
    reader = read(sent + excess) if at_once else read(sent, excess)
    assert b"".join(reader.body) == body
    assert reader.has_excess and not reader.can_be_followed


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
def test_a_response_that_breaks_off_is_never_whole(name: str, data: st.DataObject) -> None:
    """Wherever the server hangs up before the last byte."""
    sent, _ = WHOLE[name]
    reader = read(sent[: data.draw(st.integers(0, len(sent) - 1))])
    with pytest.raises(ResponseFault, match="closed the connection"):
        reader.close()


def test_without_a_length_the_end_of_the_connection_is_the_end() -> None:
    """As HTTP/1.0 has it; nothing can follow on that connection."""
    reader = read(OK + b"\r\none", b"two", ended=True)
    assert b"".join(reader.body) == b"onetwo" and reader.is_complete and not reader.can_be_followed


def test_headers_are_found_by_their_small_letters() -> None:
    """Repeated ones are joined, blanks around values are gone, folded lines are one."""
    head = read(OK + b"X-A:  1 \r\nx-a:2\r\nX-B: c\r\n  d\r\ncontent-length: 0\r\n\r\n").head
    assert head is not None and head.headers["x-a"] == "1, 2" and head.headers["x-b"] == "c d"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (OK + b"connection: close\r\ncontent-length: 0\r\n\r\n", False),
        (OK + b"Connection: Keep-Alive\r\ncontent-length: 0\r\n\r\n", True),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n", True),
        (OK + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", False),
    ],
)
def test_whether_another_request_may_follow(sent: bytes, kept: bool) -> None:
    """As the server says; and never behind a response with two lengths."""
    assert read(sent).can_be_followed is kept


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/2 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 99 No\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"bad name : x\r\n\r\n",
        OK + b"x: a\0b\r\n\r\n",
        OK + b"x: a\rb\r\n\r\n",
        OK + b"content-length: -1\r\n\r\n",
        OK + b"content-length: +1\r\n\r\n",
        OK + b"content-length: 1\r\ncontent-length: 2\r\n\r\n",
        OK + b"content-length: " + b"9" * 40 + b"\r\n\r\n",
        OK + b"transfer-encoding: gzip, chunked\r\n\r\n",
        CHUNKED + b"-1\r\n",
        CHUNKED + b"0x5\r\n",
        CHUNKED + b"\r\n",
        CHUNKED + b"3\r\nonetwo",
        CHUNKED + b"f" * 17 + b"\r\n",
        CHUNKED + b"1" * 20_000,
        OK + b"x: " + b"y" * 300_000,
    ],
    ids=lambda sent: repr(sent[-30:]),
)
def test_what_is_not_a_response_is_refused(sent: bytes) -> None:
    """Before anything of it could pass for another response."""
    with pytest.raises(ResponseFault):
        read(sent)


@given(st.binary(max_size=200), st.integers(0, 3))
def test_no_bytes_break_it(tail: bytes, kind: int) -> None:
    """Any bytes are a response, a fault, or the beginning of one."""
    begin = (b"", b"HTTP/1.1 ", CHUNKED, OK + b"content-length: 50\r\n\r\n")[kind]
    reader = ResponseReader()
    with suppress(ResponseFault):
        reader.feed(begin + tail)
        reader.close()
        assert reader.is_complete
    assert sum(map(len, reader.body)) <= len(tail)


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8), st.booleans())
def test_an_independent_reader_agrees(parts: list[bytes], chunked: bool) -> None:
    """h11, which was written from the same rules, reads the same body."""
    body = b"".join(parts)
    if chunked:
        sent = CHUNKED + b"".join(map(chunk, parts)) + b"0\r\n\r\n"
    else:
        sent = OK + b"content-length: %d\r\n\r\n" % len(body) + body
    other = h11.Connection(h11.CLIENT)
    other.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    other.send(h11.EndOfMessage())
    other.receive_data(sent)
    theirs = b""
    while not isinstance(event := other.next_event(), h11.EndOfMessage):
        theirs += bytes(event.data) if isinstance(event, h11.Data) else b""
    ours = read(sent)
    assert b"".join(ours.body) == theirs == body and ours.is_complete
