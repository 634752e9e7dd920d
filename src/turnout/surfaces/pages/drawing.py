"""Pages as responses: the templates, and the headers that every page is sent with."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from ..gateway.values import Response
from ..shared.conversation_html.drawing import make_environment, style_sheet

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: with it a browser sends `Origin: null` with our own forms, which the guard refuses.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
HTML = "text/html; charset=utf-8"


@lru_cache(1)
def environment() -> Environment:
    return make_environment(__package__)


def draw_page(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)


def page_response(html: str, status: int = 200, **headers: str) -> Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(status, {"content-type": HTML, **HEADERS, **named}, html.encode("utf-8", "replace"))


def redirect_response(place: str, **headers: str) -> Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(303, {"location": place, **HEADERS, **named}, b"")


@lru_cache(8)
def static_file(name: str) -> bytes:
    if name == "style.css":  # of exports too, so it is not ours alone
        return style_sheet().encode()
    return files("turnout.surfaces.pages").joinpath("static", name).read_bytes()
