"""Templates, their filters, and the headers that every page is sent with."""

from __future__ import annotations

import time
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..gateway.values import Response
from ..shared.clean_text import one_line, printable

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
HTML = "text/html; charset=utf-8"


@lru_cache(1)
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("turnout.surfaces.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "when": time_text,
        "iso": iso_text,
        "dollars": dollars,
        "seconds": seconds_text,
        "count": count_text,
        "share": share_text,
        "line": one_line,
        "printable": printable,
        "path": lambda text: quote(text, safe=""),
        "bytes": size_text,
    }
    return made


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
    return files("turnout.surfaces.pages").joinpath("static", name).read_bytes()


# Filters


def time_text(stamp: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(stamp)) if stamp else ""


def iso_text(stamp: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp)) if stamp else ""


def dollars(cost: float | None) -> str:
    return "" if cost is None else f"${cost:,.4f}"


def seconds_text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def count_text(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def share_text(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def size_text(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
