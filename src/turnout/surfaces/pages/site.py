"""All pages by their addresses. A page is drawn in another thread, so that replies do not wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...errors import TurnoutError, UsageError
from ...store import Store, open_store
from ...world.config import Config
from ...world.secrets import Secrets
from ..gateway.access import own_token
from ..gateway.gateway import Gateway
from ..gateway.guard import Refusal
from ..gateway.start import GatewayPlaces
from ..gateway.values import Handler, Request, Response
from . import numbers, waiting
from .drawing import redirect_response
from .entry import OPEN_PATHS, STATIC, PagesEntry
from .frame import Draw, PageFrame
from .request_addresses import RequestAddresses
from .request_records import RequestRecords
from .session_addresses import SessionAddresses
from .sign_in import SignIn

OWN_PATHS = ("/sessions", "/requests", "/waiting", "/numbers", "/pages")
"""The cookie of a browser opens these pages, and nothing else of a gateway."""


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
        self._open_store = open_store
        self._opened: Store | None = None
        self._records = RequestRecords(memory)
        self._wall_clock = wall_clock
        self._thread = ThreadPoolExecutor(1, "turnout-pages")
        self._frame = PageFrame(Secrets({**config.environment, "PAGES_TOKEN": token}))
        self._entry = PagesEntry(self.sign_in, token)
        self._sessions = SessionAddresses(self._frame, self._session_store, config)
        self._requests = RequestAddresses(self._frame, self._records, config)
        self._report: Handler | None = None  # of the gateway, where there is one

    # Where they are

    def routes(self) -> dict[tuple[str, str], Handler]:
        """Every page by its method and path."""
        drawn: dict[tuple[str, str], Draw] = {
            ("GET", "/sessions"): self._sessions.draw_list,
            ("GET", "/sessions/*"): self._sessions.draw_below,
            ("GET", "/requests"): self._requests.draw_list,
            ("GET", "/requests/*"): self._requests.draw_below,
            ("GET", "/numbers"): self._draw_numbers,
            ("GET", "/waiting"): self._draw_waiting,
            ("POST", "/waiting"): self._take_answer,
        }
        return {
            **{place: self._in_thread(draw) for place, draw in drawn.items()},
            ("GET", "/"): self._entry.answer_entry,
            ("POST", "/pages/sign-in"): self._entry.answer_sign_in,
            **{("GET", f"/pages/{name}"): self._entry.answer_static for name in STATIC},
        }

    def add_to(self, gateway: Gateway) -> None:
        """Show the pages below the gateway's address too."""
        self._report = gateway.answer_request_report
        self._entry.welcome = gateway.answer_welcome
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

    # How they are drawn

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
        return self._frame.problem("This key may not see the pages; use the gateway's token.", 403)

    def _draw_or_explain(self, draw: Draw, request: Request) -> Response:
        try:
            return draw(request)
        except UsageError as error:
            return self._frame.problem(str(error), 404)
        except TurnoutError as error:
            return self._frame.problem(str(error), 500)

    async def check_store(self) -> None:
        """Read from the store now, so that an error is said where the pages are started."""
        await asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: self._session_store().list(limit=1)
        )

    def _session_store(self) -> Store:
        if self._opened is None:
            self._opened = self._open_store()
        return self._opened

    def close(self) -> None:
        self._thread.submit(self._close_files).result()
        self._thread.shutdown()

    def _close_files(self) -> None:
        self._records.close()
        if self._opened is not None:
            self._opened.close()

    # Numbers and waiting

    def _draw_numbers(self, request: Request) -> Response:
        now = self._wall_clock()
        values = numbers.numbers_values(self._session_store(), self._records, request.query, now)
        return self._frame.page("numbers.html", here="numbers", title="Numbers", **values)

    def _draw_waiting(self, request: Request) -> Response:
        values = waiting.waiting_values(self._session_store(), self.sign_in)
        return self._frame.page("waiting.html", here="waiting", title="Waiting", **values)

    def _take_answer(self, request: Request) -> Response:
        waiting.answer_from_form(self._session_store(), self.sign_in, request.body)
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
