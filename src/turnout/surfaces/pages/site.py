"""All pages by their addresses. A page is drawn in another thread, so that replies do not wait for it."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec

from ...errors import TurnoutError, UsageError
from ...store import Store, open_store
from ...targets.target import Target
from ...world.config import Config
from ...world.secrets import Secrets
from ..gateway.access import own_token
from ..gateway.gateway import Gateway
from ..gateway.guard import Refusal, digest_of
from ..gateway.start import GatewayPlaces
from ..gateway.values import Handler, Request, Response, json_response
from . import numbers, request_pages, session_pages, waiting
from .as_target import last_target, target_values
from .drawing import HEADERS, draw_page, page_response, redirect_response, static_file
from .request_records import RequestRecords
from .sign_in import SignIn

STATIC = {
    "style.css": "text/css; charset=utf-8",
    "follow.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
OWN_PATHS = ("/sessions", "/requests", "/waiting", "/numbers", "/pages")
"""The cookie of a browser opens these pages, and nothing else of a gateway."""
OPEN_PATHS = ("/pages/style.css", "/pages/follow.js", "/pages/icon.svg", "/pages/sign-in")
USED_LINK = (
    "This link was used already, or is too old. Start `turnout view` again, or sign in with the token."
)

Draw = Callable[[Request], Response]


class Pages:
    """The pages of one store and one gateway's memory."""

    def __init__(
        self,
        config: Config,
        *,
        open_store: Callable[[], Store],
        memory: Path,
        token: str = "",
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.sign_in = SignIn()
        self._config = config
        self._open_store = open_store
        self._opened: Store | None = None
        self._records = RequestRecords(memory)
        self._token = digest_of(token) if token else b""
        self._secrets = Secrets({**config.environment, "PAGES_TOKEN": token})
        self._wall_clock = wall_clock
        self._thread = ThreadPoolExecutor(1, "turnout-pages")
        self._report: Handler | None = None  # of the gateway, where there is one
        self._welcome: Handler | None = None

    # Where they are

    def routes(self) -> dict[tuple[str, str], Handler]:
        """Every page by its method and path."""
        drawn: dict[tuple[str, str], Draw] = {
            ("GET", "/sessions"): self._draw_sessions,
            ("GET", "/sessions/*"): self._draw_session,
            ("GET", "/requests"): self._draw_requests,
            ("GET", "/requests/*"): self._draw_request,
            ("GET", "/numbers"): self._draw_numbers,
            ("GET", "/waiting"): self._draw_waiting,
            ("POST", "/waiting"): self._take_answer,
        }
        return {
            **{place: self._in_thread(draw) for place, draw in drawn.items()},
            ("GET", "/"): self._answer_entry,
            ("POST", "/pages/sign-in"): self._answer_sign_in,
            **{("GET", f"/pages/{name}"): self._answer_static for name in STATIC},
        }

    def add_to(self, gateway: Gateway) -> None:
        """Show the pages below the gateway's address too."""
        self._report = gateway.answer_request_report
        self._welcome = gateway.answer_welcome
        for (method, path), handler in self.routes().items():
            gateway.add_route(method, path, handler, form=method == "POST", is_open=path in OPEN_PATHS)
        gateway.sign_in = self.is_signed_in
        gateway.refused_page = self.refused_page
        gateway.on_close.append(self.close)

    def is_signed_in(self, request: Request) -> bool:
        """Whether a browser may see this page by its cookie."""
        return _is_own(request.path) and self.sign_in.is_signed_in(request)

    def refused_page(self, request: Request, refusal: Refusal) -> Response | None:
        """A browser without a cookie is led to where it can sign in; a program gets JSON."""
        wants_page = "text/html" in request.headers.get("accept", "") and _is_own(request.path)
        return redirect_response("/") if refusal.status == 401 and wants_page else None

    def close(self) -> None:
        self._thread.submit(self._close_files).result()
        self._thread.shutdown()

    def _close_files(self) -> None:
        self._records.close()
        if self._opened is not None:
            self._opened.close()

    @property
    def _session_store(self) -> Store:
        if self._opened is None:
            self._opened = self._open_store()
        return self._opened

    def _in_thread(self, draw: Draw) -> Handler:
        async def answer(request: Request) -> Response:
            if getattr(request.access, "limits", None) is not None:
                return await self._answer_limited(request)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._draw_or_explain, draw, request)

        return answer

    async def _answer_limited(self, request: Request) -> Response:
        """A client's key sees the report of its own requests, and no page: pages show everyone's."""
        if request.path.endswith(".json") and self._report is not None:
            return await self._report(request)
        return page_response(
            self._problem_page("This key may not see the pages; use the gateway's token."), 403
        )

    def _draw_or_explain(self, draw: Draw, request: Request) -> Response:
        try:
            return draw(request)
        except UsageError as error:
            return page_response(self._problem_page(str(error)), 404)
        except TurnoutError as error:
            return page_response(self._problem_page(str(error)), 500)

    def _problem_page(self, message: str) -> str:
        return self._without_secrets(draw_page("problem.html", message=message, here="", title="Not found"))

    def _without_secrets(self, html: str) -> str:
        """A page without any secret that this process knows."""
        return self._secrets.hide(html)

    def _page(self, template: str, **values: Any) -> Response:
        return page_response(self._without_secrets(draw_page(template, **values)))

    def _live_part(self, request: Request, template: str, **values: Any) -> Response:
        """A part of a page for the script; 304 where it has not changed."""
        html = self._without_secrets(draw_page(template, **values))
        tag = f'"{digest_of(html).hex()[:24]}"'
        if hmac.compare_digest(request.headers.get("if-none-match", "").encode(), tag.encode()):
            return Response(304, {**HEADERS, "etag": tag}, b"")
        return page_response(html, etag=tag)

    # Signing in

    async def _answer_entry(self, request: Request) -> Response:
        once = request.query.get("once", "")
        if once and self.sign_in.use_link(once):
            return redirect_response("/sessions", set_cookie=self.sign_in.make_cookie(request))
        if not once and self.sign_in.is_signed_in(request):
            return redirect_response("/sessions")
        is_program = "text/html" not in request.headers.get("accept", "")
        if not once and is_program and self._welcome is not None:
            return await self._welcome(request)
        message = USED_LINK if once else ""
        html = draw_page("sign_in.html", title="Sign in", here="", message=message)
        return page_response(html, 401 if once else 200)

    async def _answer_sign_in(self, request: Request) -> Response:
        form = parse_qs(request.body[:10_000].decode("utf-8", "replace"))
        given = form.get("token", [""])[-1].strip()
        if self._token and hmac.compare_digest(digest_of(given), self._token):
            return redirect_response("/sessions", set_cookie=self.sign_in.make_cookie(request))
        await asyncio.sleep(0.5)  # a guess costs time
        html = draw_page("sign_in.html", title="Sign in", here="", message="This is not the gateway's token.")
        return page_response(html, 401)

    async def _answer_static(self, request: Request) -> Response:
        name = request.path.removeprefix("/pages/")
        headers = {**HEADERS, "content-type": STATIC[name], "cache-control": "private, max-age=3600"}
        return Response(200, headers, static_file(name))

    # Sessions

    def _draw_sessions(self, request: Request) -> Response:
        values = session_pages.list_values(self._session_store, request.query)
        place = _with_query("/sessions", request.query)
        shared = {"here": "sessions", "title": "Sessions", "place": place, "query": request.query}
        if "part" in request.query:
            return self._live_part(request, "sessions_rows.html", **values, **shared)
        return self._page("sessions.html", **values, **shared)

    def _draw_session(self, request: Request) -> Response:
        id, rest = self._split_session(request.path.removeprefix("/sessions/"))
        base = f"/sessions/{quote(id, safe='')}"
        opened = session_pages.open_for_reading(self._session_store, id)
        match rest.split("/"):
            case [""]:
                values = session_pages.conversation_values(opened, request.query, base)
                names = self._target_names()
                return self._page("session.html", here="sessions", targets=names, **values)
            case ["live"]:
                first = request.query.get("from", "1")
                place = int(first) if first.isdecimal() and len(first) < 10 else 1
                draft = self._session_store.log.load(id).draft
                values = session_pages.live_values(opened, place, base, draft)
                return self._live_part(request, "conversation_live.html", **values)
            case ["as"]:
                return redirect_response(f"{base}/as/{quote(request.query.get('target', ''), safe='')}")
            case ["as", *words]:
                return self._draw_as_target(request, opened, "/".join(words), base)
            case ["export.html"]:
                name = f'attachment; filename="{_file_name(id)}.html"'
                html = self._without_secrets(session_pages.export_html(opened))
                return page_response(html, content_disposition=name)
            case ["media", *place, at]:
                kind, data = session_pages.media_of(opened, "/".join(place), at)
                return Response(200, {**HEADERS, "content-type": kind}, data)
            case ["text", *place]:
                text = self._without_secrets(session_pages.whole_text(opened, "/".join(place)))
                headers = {**HEADERS, "content-type": "text/plain; charset=utf-8"}
                return Response(200, headers, text.encode("utf-8", "replace"))
        raise UsageError(f"there is no page {rest[:100]!r} of a session; open /sessions")

    def _split_session(self, path: str) -> tuple[str, str]:
        """The id of a session, which may hold slashes, and what follows it."""
        for at in (len(path), *(at for at in range(len(path) - 1, 0, -1) if path[at] == "/")):
            if self._session_store.knows(path[:at]):
                return path[:at], path[at + 1 :]
        raise UsageError(f"there is no session {path[:100]!r}; open /sessions")

    def _draw_as_target(self, request: Request, opened: Any, name: str, base: str) -> Response:
        history = opened.history
        target = self._config.target(name)
        given, last = request.query.get("against", ""), last_target(history)
        against: Target | None = None
        with suppress(TurnoutError):
            against = self._config.target(given or str(last)) if given or last else None
        values = target_values(history, target, against)
        shared = {"here": "sessions", "title": f"As {name}", "base": base, "targets": self._target_names()}
        return self._page("as_target.html", summary=opened.summary, **values, **shared)

    def _target_names(self) -> list[str]:
        with suppress(TurnoutError):
            return self._config.targets()
        return []

    # Requests, numbers, waiting

    def _draw_requests(self, request: Request) -> Response:
        values = request_pages.list_values(self._records, request.query)
        place = _with_query("/requests", request.query)
        shared = {"here": "requests", "title": "Requests", "place": place, "query": request.query}
        if "part" in request.query:
            return self._live_part(request, "requests_rows.html", **values, **shared)
        return self._page("requests.html", **values, **shared)

    def _draw_request(self, request: Request) -> Response:
        id = request.path.removeprefix("/requests/")
        if id.endswith(".json"):
            return self._request_report(id.removesuffix(".json"))
        values = request_pages.request_values(self._records, id, self._config.target)
        if values is None:
            raise UsageError(f"there is no request {id[:100]!r}; open /requests")
        page = self._without_secrets(
            draw_page("request.html", here="requests", title=f"Request {id[:40]}", **values)
        )
        return page_response(page.replace(request_pages.KEY_HEADER, escape(values["key_header"])))

    def _request_report(self, id: str) -> Response:
        found = self._records.request(id)
        if found is None:
            message = f"there is no request {id[:100]!r}; x-turnout-request names one"
            return json_response({"error": {"message": message, "type": "gateway_error", "code": 404}}, 404)
        record, bodies = found
        record.pop("number")
        text = self._secrets.hide(
            msgspec.json.encode({**record, "bodies": bodies} if bodies else record).decode()
        )
        return Response(200, {**HEADERS, "content-type": "application/json"}, text.encode())

    def _draw_numbers(self, request: Request) -> Response:
        values = numbers.numbers_values(self._session_store, self._records, request.query, self._wall_clock())
        return self._page("numbers.html", here="numbers", title="Numbers", **values)

    def _draw_waiting(self, request: Request) -> Response:
        values = waiting.waiting_values(self._session_store, self.sign_in)
        return self._page("waiting.html", here="waiting", title="Waiting", **values)

    def _take_answer(self, request: Request) -> Response:
        waiting.answer_from_form(self._session_store, self.sign_in, request.body)
        return redirect_response("/waiting")


def open_pages(config: Config, places: GatewayPlaces) -> tuple[Pages, str]:
    """The pages of this machine's store and gateway, and the token that signs in."""
    token, _ = own_token(config.environment, places.token)
    pages = Pages(
        config, open_store=lambda: open_store(config.environment), memory=places.memory, token=token
    )
    return pages, token


def _is_own(path: str) -> bool:
    return any(path == own or path.startswith(own + "/") for own in OWN_PATHS)


def _with_query(path: str, query: dict[str, str]) -> str:
    """The address of a list with its filters, for links that change one of them."""
    kept = {name: value for name, value in query.items() if value and name not in ("part", "key")}
    return f"{path}?" + "".join(f"{quote(name)}={quote(value)}&" for name, value in kept.items())


def _file_name(id: str) -> str:
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "-" for letter in id
    )
