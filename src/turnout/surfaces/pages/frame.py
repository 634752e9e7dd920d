"""What every page has in common: it is drawn without the secrets of this process."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from ...world.secrets import Secrets
from ..gateway.guard import digest_of
from ..gateway.values import Request, Response
from .drawing import HEADERS, draw_page, page_response

Draw = Callable[[Request], Response]
"""A page of one address; it runs in the thread of the pages."""


class PageFrame:
    """Draws templates, and takes every secret out of what they give."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    def without_secrets(self, text: str) -> str:
        return self._secrets.hide(text)

    def page(self, template: str, **values: Any) -> Response:
        return page_response(self.without_secrets(draw_page(template, **values)))

    def live_part(self, request: Request, template: str, **values: Any) -> Response:
        """A part of a page for the script; 304 where it has not changed."""
        html = self.without_secrets(draw_page(template, **values))
        tag = f'"{digest_of(html).hex()[:24]}"'
        if hmac.compare_digest(request.headers.get("if-none-match", "").encode(), tag.encode()):
            return Response(304, {**HEADERS, "etag": tag}, b"")
        return page_response(html, etag=tag)

    def problem(self, message: str, status: int) -> Response:
        """A page that says what is wrong, and where to go."""
        html = draw_page("problem.html", message=message, here="", title="Not found")
        return page_response(self.without_secrets(html), status)


def address_with_query(path: str, query: dict[str, str]) -> str:
    """The address of a list with its filters, for links that change one of them."""
    kept = {name: value for name, value in query.items() if value and name not in UNKEPT}
    return f"{path}?" + "".join(f"{quote(name)}={quote(value)}&" for name, value in kept.items())


UNKEPT = ("part", "key", "page", "before")
"""Words of a query that say which part is shown, not what is looked for."""
