"""Decompress a response in small pieces: 300 KB of gzip may hold 300 MB."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from ..errors import StreamError

PIECE = 256 * 1024
GZIP = frozenset({"gzip", "x-gzip"})
MEMBER = b"\x1f"  # how every part of a gzip file begins


class Inflater:
    """Feed compressed bytes, cut anywhere; get what they hold in pieces of limited size."""

    def __init__(self, encoding: str) -> None:
        if encoding not in GZIP | {"deflate"}:
            raise StreamError(f"the server answered in {encoding!r}, which was not asked for")
        self._gzip = encoding in GZIP
        self._machine: Any = zlib.decompressobj(31) if self._gzip else None
        self._head = b""
        self._over = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        if self._machine is None:
            chunk = self._start_inflating(chunk)
        if self._machine is None or self._over:
            return
        try:
            yield from self._pieces(chunk)
        except zlib.error as error:
            raise StreamError(f"the compressed answer is not valid: {error}") from None

    def _start_inflating(self, chunk: bytes) -> bytes:
        """`deflate` has a header of two bytes (RFC 9110), but some servers leave it out."""
        self._head += chunk
        if len(self._head) < 2:
            return b""
        headed = self._head[0] & 15 == 8 and int.from_bytes(self._head[:2]) % 31 == 0
        self._machine = zlib.decompressobj(15 if headed else -15)
        return self._head

    def _pieces(self, chunk: bytes) -> Iterator[bytes]:
        while True:
            piece = self._machine.decompress(chunk, PIECE)
            if piece:
                yield piece
            chunk = self._machine.unconsumed_tail
            if self._machine.eof:
                chunk = self._machine.unused_data
                if not chunk:
                    return
                if not self._gzip or not chunk.startswith(MEMBER):
                    self._over = True  # bytes after the end are ignored
                    return
                self._machine = zlib.decompressobj(31)
            elif not chunk and len(piece) < PIECE:  # a full piece may hold some back
                return
