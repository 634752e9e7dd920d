"""Who may ask: the Host, the Origin, the kind of content and the token of a request. Pure.

A page in a browser can send requests to loopback. It cannot set `Host` (DNS rebinding changes where a
name leads, not the name) and cannot hide its `Origin`, so both are checked, and no CORS header is sent.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256

from msgspec import Struct

from .values import JSON, Request

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN_PATHS = frozenset({"/", "/health"})
MAX_FAILURES = 20
"""Wrong tokens of one address in a minute, after which it is refused for the rest of that minute."""


class Refusal(Struct, frozen=True):
    """Why a request is not answered."""

    status: int
    message: str


def check_host(request: Request, names: Iterable[str]) -> Refusal | None:
    """421 for a Host that is not ours."""
    host = host_name(request.headers.get("host", ""))
    if host and (host in LOOPBACK or host in names):
        return None
    return Refusal(
        421,
        f"this gateway is not {host[:100]!r}; if the name is yours, add it to [gateway] hosts",
    )


def check_origin(request: Request) -> Refusal | None:
    """403 for a page of another site."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "")
    scheme = "https" if request.is_tls else "http"
    own = f"{scheme}://{request.headers.get('host', '')}".lower()
    if (origin is None or origin.lower() == own) and site != "cross-site":
        return None
    return Refusal(403, "pages of other sites may not use this gateway; call it from a program")


def check_content(request: Request) -> Refusal | None:
    """415 for a body that does not say it is JSON: a form of any page could send it unasked."""
    if request.method != "POST":
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if kind != JSON:
        return Refusal(415, f"the body must be JSON; send content-type: {JSON}")
    if encoding not in ("", "identity"):
        return Refusal(415, "a compressed body is not read; send it without content-encoding")
    return None


def check_form(request: Request) -> Refusal | None:
    """415 for a body that is not a form of our own pages."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method != "POST" or kind == "application/x-www-form-urlencoded":
        return None
    return Refusal(415, "the body must be a form; send content-type: application/x-www-form-urlencoded")


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def given_token(request: Request) -> str:
    """The token of a request, in any of the ways that clients have."""
    headers = request.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or request.query.get("key", "")


def digest_of(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def matching_name(token: str, digests: Mapping[str, bytes]) -> str | None:
    """Whose token it is. Every digest is compared, in constant time."""
    found, digest = None, digest_of(token)
    for name, known in digests.items():
        if hmac.compare_digest(digest, known):
            found = name
    return found if token else None


class FailureCounter:
    """Wrong tokens by address. All users of loopback share one, so a right token always counts there."""

    def __init__(self) -> None:
        self._minute = 0
        self._failures: dict[str, int] = {}

    def note_failure(self, peer: str, now: float) -> None:
        self._turn_to(now)
        if peer in self._failures or len(self._failures) < 10_000:
            self._failures[peer] = self._failures.get(peer, 0) + 1

    def is_blocked(self, peer: str, now: float) -> bool:
        self._turn_to(now)
        return self._failures.get(peer, 0) >= MAX_FAILURES

    def _turn_to(self, now: float) -> None:
        if (minute := int(now // 60)) != self._minute:
            self._minute, self._failures = minute, {}
