"""`turnout view`: the pages on loopback, without a gateway, behind the gateway's own checks."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ...world.config import Config
from ..gateway.access import AccessList, ClientAccess
from ..gateway.guard import Refusal, check_form, check_host, check_origin
from ..gateway.http_connection import error_response
from ..gateway.values import Handler, Request, Response
from .entry import OPEN_PATHS
from .site import Pages


class ViewApplication:
    """What the server of `turnout view` serves."""

    def __init__(self, pages: Pages, config: Config, token: str) -> None:
        self._pages = pages
        self._routes = pages.routes()
        self._access = AccessList(token, config.settings.gateway, config.environment)

    def admit(self, request: Request) -> Response | None:
        refusal = check_host(request, ()) or check_origin(request)
        if refusal is None and request.path not in ("/", *OPEN_PATHS):
            refusal = self._check_access(request)
        refusal = refusal or check_form(request)
        if refusal is None:
            return None
        page = self._pages.refused_page(request, refusal)
        return page or self.refusal(request, refusal.status, refusal.message)

    def _check_access(self, request: Request) -> Refusal | None:
        if self._pages.is_signed_in(request):
            request.access = ClientAccess("browser")
            return None
        return self._access.admit(request, time.time())

    def refusal(self, request: Request, status: int, message: str) -> Response:
        return error_response(status, message)

    async def answer(self, request: Request) -> Response:
        handler = find_handler(self._routes, request)
        if handler is None:
            return error_response(404, f"{request.path[:200]} does not exist; open /sessions")
        try:
            return await handler(request)
        except Exception as error:  # a page that cannot be drawn must not end the server
            return error_response(500, f"bug: {type(error).__name__}; please report it")


def find_handler(routes: Mapping[tuple[str, str], Handler], request: Request) -> Handler | None:
    """The handler of a path, or of all paths below one."""
    method = "GET" if request.method == "HEAD" else request.method
    path = request.path.rstrip("/") or "/"
    places = [path, *(f"{path[:at]}/*" for at in range(len(path) - 1, -1, -1) if path[at] == "/")]
    return next((found for each in places if (found := routes.get((method, each))) is not None), None)
