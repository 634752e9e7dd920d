"""The transport of every session that was given none: one for the whole process.

To read the certificates of this machine takes 30 ms and most of a megabyte, and a new connection takes a
round trip or three. So sessions share both: each event loop has one pool of connections with one TLS
context (`HttpTransport` keeps them), however many sessions run in it. A session that ends closes what it
left unfinished; connections without work are closed after a minute, or when their loop ends.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from .ports import Incoming, Outgoing

if TYPE_CHECKING:
    from .transport import HttpTransport

_shared: HttpTransport | None = None


class SharedHttp:
    """Sends through the transport that all share. It is loaded with the first request of the process."""

    def send(self, request: Outgoing) -> AbstractAsyncContextManager[Incoming]:
        return shared_transport().send(request)


def shared_transport() -> HttpTransport:
    global _shared
    if _shared is None:
        from .transport import HttpTransport  # asyncio and TLS are loaded when they are needed

        _shared = HttpTransport()
    return _shared
