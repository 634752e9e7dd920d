"""What a session asks of the world, as interfaces: a transport, a clock, a source of chance.

Everything that differs between two runs comes in through here, so a whole session can run
in a deterministic simulation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

from msgspec import Struct

from ..model import Origin


class Outgoing(Struct, frozen=True):
    """One HTTP request, with its key: never logged."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Outgoing({self.method} {self.url}, {len(self.body)} bytes)"


class Incoming(Protocol):
    """The answer: status and headers at once, the body as it comes."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The header fields; names in small letters."""

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        """The body, in pieces as they arrive."""


class Transport(Protocol):
    """Sends a request. Raises `ConnectionError` or `TimeoutError` when there is no answer."""

    def send(self, request: Outgoing) -> AbstractAsyncContextManager[Incoming]:
        """Send a request. The answer is open as long as the block."""


def admission(transport: Transport, origin: Origin) -> AbstractAsyncContextManager[None]:
    """A block in which a request to this model may be sent: a transport that paces requests waits here.

    The time limits of a request begin inside, so that a wait for others is not a timeout.
    """
    admit = getattr(transport, "admit", None)
    return nullcontext() if admit is None else admit(origin)


class Chance(Protocol):
    """The part of `random.Random` that is used."""

    def uniform(self, a: float, b: float) -> float:
        """A number between `a` and `b`."""


WallClock = Callable[[], float]
"""Seconds since 1970, for dates in headers and records; never for timeouts."""
