"""HTTP whose client is loaded and opened with the first request."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from .ports import Incoming, Outgoing

if TYPE_CHECKING:
    from .transport import HttpTransport


class HttpOnDemand:
    """The transport of a session that was given none. Once closed, the next request opens it again."""

    def __init__(self) -> None:
        self._http: HttpTransport | None = None

    def send(self, request: Outgoing) -> AbstractAsyncContextManager[Incoming]:
        if self._http is None:
            from .transport import HttpTransport  # the HTTP client is loaded when it is needed

            self._http = HttpTransport()
        return self._http.send(request)

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.close()
