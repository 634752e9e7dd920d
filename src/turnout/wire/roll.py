"""Wire messages as bytes: what is closed is kept, the last one may still grow.

A following message may merge into the last one (same role, on protocols that want
alternation), so the last stays a value until the next one shows that it is whole. Whole
ones wait until bytes are asked for and are encoded together, which costs half of one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .protocol import encode

Wire = dict[str, Any]
Merge = Callable[[Wire, Wire], bool]


def never(last: Wire, following: Wire) -> bool:
    return False


class Roll:
    """An array of wire messages that only grows."""

    def __init__(self, merge: Merge = never) -> None:
        self.merge = merge
        self.last: Wire | None = None
        self._whole: list[Wire] = []
        self._encoded = bytearray()

    def add(self, message: Wire) -> None:
        if self.last is not None:
            if self.merge(self.last, message):
                return
            self._whole.append(self.last)
        self.last = message

    @property
    def closed(self) -> bytearray:
        """Every message but the last, parted by commas. These bytes only grow."""
        if self._whole:
            if self._encoded:
                self._encoded += b","
            self._encoded += memoryview(encode(self._whole))[1:-1]
            self._whole = []
        return self._encoded

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
        parts = (self.closed, encode(self.last) if self.last is not None else b"")
        return b",".join(part for part in parts if part)
