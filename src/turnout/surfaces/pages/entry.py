"""The way in: `/` with its one-time link, the form for the gateway's token, and the files of every page."""

from __future__ import annotations

import asyncio
import hmac
from urllib.parse import parse_qs

from ..gateway.guard import digest_of
from ..gateway.values import Handler, Request, Response
from .drawing import HEADERS, draw_page, page_response, redirect_response, static_file
from .sign_in import SignIn

STATIC = {
    "style.css": "text/css; charset=utf-8",
    "follow.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
OPEN_PATHS = (*(f"/pages/{name}" for name in STATIC), "/pages/sign-in")
"""What a browser may load before it has signed in."""
USED_LINK = (
    "This link was used already, or is too old. Start `turnout view` again, or sign in with the token."
)
WRONG_TOKEN = "This is not the gateway's token."


class PagesEntry:
    """Signs browsers in."""

    def __init__(self, sign_in: SignIn, token: str) -> None:
        self._sign_in = sign_in
        self._token = digest_of(token) if token else b""
        self.welcome: Handler | None = None  # of the gateway, for programs

    async def answer_entry(self, request: Request) -> Response:
        once = request.query.get("once", "")
        if once and self._sign_in.use_link(once):
            return redirect_response("/sessions", set_cookie=self._sign_in.make_cookie(request))
        if self._sign_in.is_signed_in(request):  # also with a link that this browser has used before
            return redirect_response("/sessions")
        is_program = "text/html" not in request.headers.get("accept", "")
        if not once and is_program and self.welcome is not None:
            return await self.welcome(request)
        return _sign_in_page(USED_LINK, 401) if once else _sign_in_page("", 200)

    async def answer_sign_in(self, request: Request) -> Response:
        form = parse_qs(request.body[:10_000].decode("utf-8", "replace"))
        given = form.get("token", [""])[-1].strip()
        if self._token and hmac.compare_digest(digest_of(given), self._token):
            return redirect_response("/sessions", set_cookie=self._sign_in.make_cookie(request))
        await asyncio.sleep(0.5)  # a guess costs time
        return _sign_in_page(WRONG_TOKEN, 401)

    async def answer_static(self, request: Request) -> Response:
        name = request.path.removeprefix("/pages/")
        headers = {**HEADERS, "content-type": STATIC[name], "cache-control": "private, max-age=3600"}
        return Response(200, headers, static_file(name))


def _sign_in_page(message: str, status: int) -> Response:
    return page_response(draw_page("sign_in.html", title="Sign in", here="", message=message), status)
