"""The transport of every session that was given none: one for the whole process.

To read the certificates of this machine takes 30 ms and most of a megabyte, and a new connection takes a
round trip or three. So sessions share both: each event loop has one pool of connections with one TLS
context (`HttpTransport` keeps them), however many sessions run in it. A session that ends closes what it
left unfinished; connections without work are closed after a minute, or when their loop ends.

A test puts another transport in its place (`use_transport`), and the code under test runs unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from .ports import Incoming, Outgoing, Transport

_shared: Transport | None = None


class SharedHttp:
    """Sends through the transport that all share. It is loaded with the first request of the process."""

    def send(self, request: Outgoing) -> AbstractAsyncContextManager[Incoming]:
        return shared_transport().send(request)

    @property
    def asks_for_key(self) -> bool:
        """Whether requests need a key: a scripted model in place of the network does not."""
        return bool(getattr(_shared, "asks_for_key", True))


def shared_transport() -> Transport:
    global _shared
    if _shared is None:
        from .transport import HttpTransport  # asyncio and TLS are loaded when they are needed

        _shared = HttpTransport()
    return _shared


@contextmanager
def use_transport(transport: Transport) -> Iterator[None]:
    """For tests: in this block, every session of the process without a transport of its own uses this one.

    The process as a whole is switched, so that tasks and threads of the code under test are too.
    """
    global _shared
    before, _shared = _shared, transport
    try:
        yield
    finally:
        _shared = before
