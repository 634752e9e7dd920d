"""One request and one response of the gateway, as values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Struct, field

JSON = "application/json"


class Request(Struct):
    """What a client asked. Header names are in small letters; `query` holds the last value of each name.

    `access` is the key that let the client in, once it was checked.
    """

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: str = ""
    is_tls: bool = False
    access: Any = None

    @classmethod
    def of(cls, method: str, url: str, headers: Mapping[str, str], **more: Any) -> Request:
        """The request for an address as it stands in the first line."""
        split = urlsplit(url if url.startswith("/") else "/" + url)
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        return cls(method, unquote(split.path), query, dict(headers), **more)


class Response(Struct):
    """An answer. A body that is an iterator is sent piece by piece."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | AsyncIterator[bytes] = b""


Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


def json_response(value: Any, status: int = 200, **headers: str) -> Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(status, {"content-type": JSON, **named}, msgspec.json.encode(value))


def text_response(text: str, status: int = 200, kind: str = "text/plain; charset=utf-8") -> Response:
    return Response(status, {"content-type": kind}, text.encode())
