"""Wire messages as bytes: what is closed is kept, the last one may still grow.

A following message may merge into the last one (same role, on protocols that want
alternation), so the last stays a value until the next one shows that it is whole.
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
        self.closed = bytearray()
        self.last: Wire | None = None

    def add(self, message: Wire) -> None:
        if self.last is not None:
            if self.merge(self.last, message):
                return
            self._close(self.last)
        self.last = message

    def _close(self, message: Wire) -> None:
        if self.closed:
            self.closed += b","
        self.closed += encode(message)

    @property
    def empty(self) -> bool:
        return self.last is None and not self.closed

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
        if self.last is None:
            return bytes(self.closed)
        return bytes(self.closed) + (b"," if self.closed else b"") + encode(self.last)
