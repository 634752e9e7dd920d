"""Messages from a stream of bytes, one per line, in bounded memory.

A line that is too long is not kept. Its head is passed on, so that the request with that number
gets an error, and the rest is dropped up to the next line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

LONGEST = 16 * 1024 * 1024
MOST_VALUES = 100_000
"""Values that one message may hold: more would take long to parse, and much memory."""

TOO_MANY_VALUES = f"the answer holds more than {MOST_VALUES:,} values"
NO_MESSAGE = "the answer is not a message, or nested too deeply to be read"
UNREADABLE = -32603  # the protocol's number for an error inside
HEAD = 4096
_NUMBER = re.compile(rb'"id"\s*:\s*(-?\d{1,18})\s*[,}]')
_LAST_NUMBER = re.compile(rb'"id"\s*:\s*(-?\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2.0"\s*)?}\s*\Z')


class TooLong(Struct, frozen=True):
    """The head of a line that was too long to keep."""

    head: bytes

    @property
    def request(self) -> int | None:
        """The number of the request that it answers, if it can be found."""
        before = self.head.partition(b'"result"')[0]
        found = _NUMBER.search(before)
        return int(found[1]) if found else None


def request_of(line: bytes) -> int | None:
    """The number of the request that a line answers, if it is near its beginning or its end."""
    at_end = _LAST_NUMBER.search(line, max(0, len(line) - HEAD))
    return int(at_end[1]) if at_end else TooLong(line[:HEAD]).request


class Lines:
    """Feed bytes as they come; get whole lines as they complete."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._size = 0
        self._dropping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield from self._take_piece(end)
            if not self._dropping and (line := b"".join(self._pieces).strip()):
                yield line
            self._pieces, self._size, self._dropping = [], 0, False
        yield from self._take_piece(rest)

    def _take_piece(self, piece: bytes) -> Iterator[TooLong]:
        if self._dropping or not piece:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._longest:
            yield TooLong(_head(self._pieces, min(HEAD, self._longest)))
            self._pieces, self._size, self._dropping = [], 0, True


def _head(pieces: list[bytes], size: int) -> bytes:
    found = bytearray()
    for piece in pieces:
        found += piece[: size - len(found)]
        if len(found) >= size:
            break
    return bytes(found)
