"""Wire messages as bytes: what is closed is kept, the last one may still grow.

A following message may merge into the last one (same role, on protocols that want
alternation), so the last stays a value until the next one shows that it is whole. Whole
ones wait until bytes are asked for and are encoded together, which costs half of one by one.
The bytes lie in blocks: one array that grows by the megabyte would be moved about in memory
with every turn, and leave holes of its own size behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .body import Pieces, encode

Wire = dict[str, Any]
Merge = Callable[[Wire, Wire], bool]

BLOCK = 65_536
"""Bytes of a block, or a little more: no message is cut in two."""


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
    def closed(self) -> Pieces:
        """Every message but the last, parted by commas, in pieces. These bytes only grow."""
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
        """A roll that goes on from here without changing this one."""
        branch = Roll(self.merge)
        if self.last is not None:
            branch.last = {
                key: list(value) if isinstance(value, list) else value for key, value in self.last.items()
            }
        return branch

    def bytes(self) -> bytes:
        """Everything, the last message too."""
        closed = b"".join(self.closed)
        last = encode(self.last) if self.last is not None else b""
        return b",".join(part for part in (closed, last) if part)
