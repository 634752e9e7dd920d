"""The addresses below `/sessions`: the list, one conversation, its parts and files, as another provider."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from urllib.parse import quote, urlencode

from ...errors import TurnoutError, UsageError
from ...store import Store
from ...targets.target import Target
from ...world.config import Config
from ..gateway.values import Request, Response
from . import session_pages
from .as_target import last_target, target_values
from .drawing import HEADERS, page_response, redirect_response
from .frame import PageFrame, address_with_query
from .session_pages import OpenedSession


class SessionAddresses:
    """Answers what is asked below `/sessions`."""

    def __init__(self, frame: PageFrame, store: Callable[[], Store], config: Config) -> None:
        self._frame = frame
        self._store = store
        self._config = config

    def draw_list(self, request: Request) -> Response:
        values = session_pages.list_values(self._store(), request.query)
        place = address_with_query("/sessions", request.query)
        shared = {"here": "sessions", "title": "Sessions", "place": place, "query": request.query}
        if "part" in request.query:
            return self._frame.live_part(request, "sessions_rows.html", **values, **shared)
        return self._frame.page("sessions.html", **values, **shared)

    def draw_below(self, request: Request) -> Response:
        """A page of one session."""
        id, rest = self._split_session(request.path.removeprefix("/sessions/"))
        base = f"/sessions/{quote(id, safe='')}"
        if rest == "as":
            return redirect_response(_address_as_target(base, request.query))
        opened = session_pages.open_for_reading(self._store(), id)
        match rest.split("/"):
            case [""]:
                return self._draw_conversation(request, opened, base)
            case ["live"]:
                return self._draw_live_part(request, opened, base)
            case ["as", *words]:
                return self._draw_as_target(request, opened, "/".join(words), base)
            case ["export.html"]:
                return self._export_file(opened)
            case ["media", *place, at]:
                kind, data = session_pages.media_of(opened, "/".join(place), at)
                return Response(200, {**HEADERS, "content-type": kind}, data)
            case ["text", *place]:
                return self._whole_text(opened, "/".join(place))
        raise UsageError(f"there is no page {rest[:100]!r} of a session; open /sessions")

    def _split_session(self, path: str) -> tuple[str, str]:
        """The id of a session, which may hold slashes, and what follows it."""
        for at in (len(path), *(at for at in range(len(path) - 1, 0, -1) if path[at] == "/")):
            if self._store().knows(path[:at]):
                return path[:at], path[at + 1 :]
        raise UsageError(f"there is no session {path[:100]!r}; open /sessions")

    def _draw_conversation(self, request: Request, opened: OpenedSession, base: str) -> Response:
        values = session_pages.conversation_values(opened, request.query, base)
        return self._frame.page("session.html", here="sessions", targets=self._target_names(), **values)

    def _draw_live_part(self, request: Request, opened: OpenedSession, base: str) -> Response:
        first = request.query.get("from", "1")
        place = int(first) if first.isdecimal() and len(first) < 10 else 1
        draft = self._store().log.load(opened.id).draft
        values = session_pages.live_values(opened, place, base, draft)
        return self._frame.live_part(request, "conversation_live.html", **values)

    def _draw_as_target(self, request: Request, opened: OpenedSession, name: str, base: str) -> Response:
        target = self._config.target(name)
        against = self._against(opened, request.query.get("against", ""))
        values = target_values(opened.history, target, against)
        shared = {"here": "sessions", "title": f"As {name}", "base": base, "targets": self._target_names()}
        return self._frame.page("as_target.html", summary=opened.summary, **values, **shared)

    def _against(self, opened: OpenedSession, given: str) -> Target | None:
        """The target that is compared with: the given one, or who answered last."""
        last = last_target(opened.history)
        with suppress(TurnoutError):
            return self._config.target(given or str(last)) if given or last else None
        return None

    def _export_file(self, opened: OpenedSession) -> Response:
        html = self._frame.without_secrets(session_pages.export_html(opened))
        name = f'attachment; filename="{_file_name(opened.id)}.html"'
        return page_response(html, content_disposition=name)

    def _whole_text(self, opened: OpenedSession, place: str) -> Response:
        text = self._frame.without_secrets(session_pages.whole_text(opened, place))
        headers = {**HEADERS, "content-type": "text/plain; charset=utf-8"}
        return Response(200, headers, text.encode("utf-8", "replace"))

    def _target_names(self) -> list[str]:
        with suppress(TurnoutError):
            return self._config.targets()
        return []


def _address_as_target(base: str, query: dict[str, str]) -> str:
    """The address of the page that a form asks for: it can be copied into an issue."""
    against = query.get("against", "").strip()
    more = f"?{urlencode({'against': against})}" if against else ""
    return f"{base}/as/{quote(query.get('target', '').strip(), safe='')}{more}"


def _file_name(id: str) -> str:
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "-" for letter in id
    )
