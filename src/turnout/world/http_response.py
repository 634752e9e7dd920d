"""Bytes become one HTTP/1.1 response: feed it what arrives, take its head and its body.

Strict where a mistake would let one response pass for another (lengths, chunk sizes, what comes
behind the end), forgiving where it cannot (line ends, missing reasons). RFC 9112 is the rule.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

LONGEST_HEAD = 256 * 1024
LONGEST_CHUNK_LINE = 16 * 1024
STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?")
HEADER_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
FORBIDDEN_IN_VALUE = re.compile(rb"[\0\r\n]")
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?")
SWITCHING_PROTOCOLS = 101

Framing = Literal["none", "length", "chunked", "until_close"]
"""How the end of a body is known."""


class ResponseFault(Exception):
    """The bytes are not a response, or it broke off."""


class ResponseHead(Struct, frozen=True):
    """Status and headers; names in lower case, repeated ones joined by a comma."""

    status: int
    headers: dict[str, str]
    is_http_1_0: bool = False


class ResponseReader:
    """Reads one response. `head` is None until it is whole, `body` grows, `is_complete` says it ended."""

    def __init__(self, method: str = "POST") -> None:
        self.head: ResponseHead | None = None
        self.body: list[bytes] = []
        self.is_complete = False
        self.has_excess = False  # bytes behind the end: they belong to nothing that was asked for
        self._method = method
        self._framing: Framing = "none"
        self._left = 0  # bytes of the body, or of the chunk, that are still to come
        self._in_chunk = False
        self._in_trailer = False
        self._unread = b""

    @property
    def can_be_followed(self) -> bool:
        """Whether the connection may carry another request."""
        if self.head is None or not self.is_complete or self.has_excess or self._framing == "until_close":
            return False
        options = self.head.headers.get("connection", "").lower()
        if self._framing == "chunked" and "content-length" in self.head.headers:
            return False  # RFC 9112 6.3: such a message may be an attempt to smuggle another one
        return "keep-alive" in options if self.head.is_http_1_0 else "close" not in options

    def feed(self, data: bytes) -> None:
        if self.is_complete:
            self.has_excess |= bool(data)
            return
        if self.head is None:
            data = self._read_heads(data)
        if self.head is None or self.is_complete:
            return
        match self._framing:
            case "chunked":
                self._read_chunks(data)
            case "length":
                self._read_counted(data)
            case "until_close" if data:
                self.body.append(data)

    def close(self) -> None:
        """The other side sent its last byte."""
        if self.is_complete:
            return
        if self.head is None:
            raise ResponseFault("the server closed the connection before it answered")
        if self._framing != "until_close":
            raise ResponseFault("the server closed the connection in the middle of its answer")
        self.is_complete = True

    # The head

    def _read_heads(self, data: bytes) -> bytes:
        """Read heads until the one that counts; what is behind it is given back."""
        data = self._unread + data
        while self.head is None:
            end = _end_of_head(data)
            if end < 0:
                if len(data) > LONGEST_HEAD:
                    raise ResponseFault(f"the headers take more than {LONGEST_HEAD:,} bytes")
                self._unread = data
                return b""
            head = _parse_head(data[:end])
            data = data[end:]
            if head.status == SWITCHING_PROTOCOLS:
                raise ResponseFault("the server wants to speak another protocol")
            if head.status >= 200:  # what is below says only that the answer takes a while
                self.head = head
        self._unread = b""
        self._set_framing(self.head)
        if self._framing == "none" or (self._framing == "length" and not self._left):
            self._finish_body(data)
        return data

    def _set_framing(self, head: ResponseHead) -> None:
        is_tunnel = self._method == "CONNECT" and 200 <= head.status < 300
        if self._method == "HEAD" or head.status in (204, 304) or is_tunnel:
            self._framing = "none"
        elif coding := head.headers.get("transfer-encoding"):
            if coding.strip().lower() != "chunked":
                raise ResponseFault(f"the transfer encoding {coding[:40]!r} was not asked for")
            self._framing = "chunked"
        elif length := head.headers.get("content-length"):
            self._framing, self._left = "length", _parse_length(length)
        else:
            self._framing = "until_close"

    # The body

    def _read_counted(self, data: bytes) -> None:
        if len(data) < self._left:
            if data:
                self.body.append(data)
                self._left -= len(data)
            return
        if self._left:
            self.body.append(data[: self._left])
        self._finish_body(data[self._left :])

    def _read_chunks(self, data: bytes) -> None:
        """Chunks of any size, cut anywhere. The usual case is first: one event came alone, as one chunk."""
        if self._unread:
            data, self._unread = self._unread + data, b""
        at, end = 0, len(data)
        while at < end and not self.is_complete:
            if self._in_trailer:
                at = self._read_trailer(data, at)
            elif not self._in_chunk:
                at = self._read_chunk_size(data, at)
            elif self._left:
                piece = data[at : at + self._left]
                self.body.append(piece)
                self._left -= len(piece)
                at += len(piece)
            else:
                at = self._read_chunk_end(data, at)
            if at < 0:
                return

    def _read_chunk_size(self, data: bytes, at: int) -> int:
        line_end = data.find(b"\n", at)
        if line_end < 0:
            return self._wait_for_more(data, at)
        line = data[at : line_end - 1] if data[line_end - 1 : line_end] == b"\r" else data[at:line_end]
        found = CHUNK_SIZE.fullmatch(line)
        if found is None:
            raise ResponseFault(f"a chunk begins with {line[:40]!r}, which is not its size")
        self._left = int(found[1], 16)
        self._in_chunk = self._left > 0
        self._in_trailer = self._left == 0
        return line_end + 1

    def _read_chunk_end(self, data: bytes, at: int) -> int:
        if data.startswith(b"\r\n", at):
            self._in_chunk = False
            return at + 2
        if data[at:] == b"\r":
            return self._wait_for_more(data, at)
        raise ResponseFault("a chunk is longer than it said")

    def _read_trailer(self, data: bytes, at: int) -> int:
        """Fields behind the last chunk say nothing to us; the empty line behind them is the end."""
        line_end = data.find(b"\n", at)
        if line_end < 0:
            return self._wait_for_more(data, at)
        if data[at:line_end] in (b"", b"\r"):
            self._finish_body(data[line_end + 1 :])
        return line_end + 1

    def _wait_for_more(self, data: bytes, at: int) -> int:
        if len(data) - at > LONGEST_CHUNK_LINE:
            raise ResponseFault(f"a line between chunks is longer than {LONGEST_CHUNK_LINE:,} bytes")
        self._unread = data[at:]
        return -1

    def _finish_body(self, rest: bytes) -> None:
        self.is_complete = True
        self.has_excess = bool(rest)


def _end_of_head(data: bytes) -> int:
    """Where the body begins; -1 while the empty line has not arrived."""
    found = [at + len(mark) for mark in (b"\r\n\r\n", b"\n\n") if (at := data.find(mark)) >= 0]
    return min(found, default=-1)


def _parse_head(data: bytes) -> ResponseHead:
    first, *lines = data.rstrip(b"\r\n").replace(b"\r\n", b"\n").split(b"\n")
    found = STATUS_LINE.fullmatch(first)
    if found is None:
        raise ResponseFault(f"the answer begins with {first[:40]!r}, which is not HTTP/1.1")
    headers: dict[str, str] = {}
    for line in _unfolded_lines(lines):
        name, mark, value = line.partition(b":")
        if not mark or not HEADER_NAME.fullmatch(name) or FORBIDDEN_IN_VALUE.search(value):
            raise ResponseFault(f"the header {name[:40]!r} is not one")
        key, text = name.decode().lower(), value.strip(b" \t").decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return ResponseHead(int(found[2]), headers, found[1] == b"0")


def _unfolded_lines(lines: list[bytes]) -> list[bytes]:
    """A line that begins with a blank continues the one before it."""
    whole: list[bytes] = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and whole:
            whole[-1] += b" " + line.strip(b" \t")
        else:
            whole.append(line)
    return whole


def _parse_length(text: str) -> int:
    """One number; a server that repeats it must repeat it alike."""
    numbers = {part.strip() for part in text.split(",")}
    number = numbers.pop()
    if numbers or not (number.isascii() and number.isdigit()) or len(number) > 18:
        raise ResponseFault(f"the length {text[:40]!r} is not a number")
    return int(number)
