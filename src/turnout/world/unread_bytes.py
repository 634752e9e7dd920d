"""Whether a connection holds bytes that belong to no response that was asked for.

The HTTP client looks at the socket before it uses a connection again, and does not look at what
was already taken from the socket: the HTTP parser's buffer, the event loop's queue, TLS. A second
response that arrived with the first one is in one of these, and would answer the next request.
None of them has a public way in, so this file knows how the client is built; should it be built
otherwise one day, connections are no longer used again (and a test says so), which is safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TO_CONNECTION = ("_stream", "_httpcore_stream", "_stream", "_connection")
"""From a response's stream to the connection that it is read from, by way of client and pool."""


def has_unread_bytes(stream: Any, network: Any) -> bool:
    """Whether more has arrived than the response; True also where that cannot be seen."""
    try:
        return any(_unread_sizes(stream, network))
    except AttributeError:
        return True


def _unread_sizes(stream: Any, network: Any) -> Iterator[int]:
    for name in TO_CONNECTION:
        stream = getattr(stream, name)
    yield len(stream._h11_state.trailing_data[0])
    below = network._stream
    while hasattr(below, "transport_stream"):  # TLS, twice with a proxy that is reached by TLS
        yield below._ssl_object.pending()
        yield below._read_bio.pending
        below = below.transport_stream
    yield len(below._protocol.read_queue)
