"""Wire messages as bytes: closed messages are kept encoded, the last one may still grow.

The next message may merge into the last one (same role, on protocols that want alternation),
so the last one stays a value until the next one is separate. Closed messages are encoded
together when bytes are asked for, which costs half as much as one by one. The bytes are kept
in blocks: one array of megabytes would be copied as it grows, and fragment the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .body import Pieces, encode

Wire = dict[str, Any]
Merge = Callable[[Wire, Wire], bool]

BLOCK = 65_536
"""Size of a block in bytes, or a little more: a message is never split."""


def never(last: Wire, following: Wire) -> bool:
    return False


class Roll:
    """An array of wire messages that only grows."""

    def __init__(self, merge: Merge = never) -> None:
        self.merge = merge
        self.last: Wire | None = None
        self._whole: list[Wire] = []
        self._blocks: list[bytes | bytearray] = []

    def add(self, message: Wire) -> None:
        if self.last is not None:
            if self.merge(self.last, message):
                return
            self._whole.append(self.last)
        self.last = message

    @property
    def closed_pieces(self) -> Pieces:
        """Every message but the last, separated by commas, in pieces. These bytes only grow."""
        if self._whole:
            block = self._open_block()
            if len(self._blocks) > 1 or block:
                block += b","
            block += memoryview(encode(self._whole))[1:-1]
            self._whole = []
        return self._blocks

    def _open_block(self) -> bytearray:
        last = self._blocks[-1] if self._blocks else b""
        if isinstance(last, bytearray) and len(last) < BLOCK:
            return last
        if last:
            self._blocks[-1] = bytes(last)  # without the room that it had to grow
        block = bytearray()
        self._blocks.append(block)
        return block

    @property
    def empty(self) -> bool:
        return self.last is None

    @property
    def last_role(self) -> str:
        return str(self.last.get("role", "")) if self.last is not None else ""

    def branch(self) -> Roll:
        """A copy to add messages to. This roll does not change."""
        branch = Roll(self.merge)
        if self.last is not None:
            branch.last = {
                key: list(value) if isinstance(value, list) else value for key, value in self.last.items()
            }
        return branch

    def bytes(self) -> bytes:
        """All messages, with the last one."""
        closed = b"".join(self.closed_pieces)
        last = encode(self.last) if self.last is not None else b""
        return b",".join(part for part in (closed, last) if part)
