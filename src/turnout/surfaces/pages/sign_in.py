"""Who may look: a link that works once gives a cookie; a form works once too.

Cookies of a host are the same for all its ports, so the name of ours holds the port: two servers on one
machine do not sign each other's users out.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from ..gateway.guard import digest_of
from ..gateway.values import Request

LINK_SECONDS = 3600.0
"""How long a link that no one has used stays valid."""
MOST_SIGNED_IN = 200
MOST_NONCES = 2000


class SignIn:
    """Links, cookies and nonces of one server. All of it is forgotten when the server ends."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._links: dict[bytes, float] = {}
        self._cookies: OrderedDict[bytes, None] = OrderedDict()
        self._nonces: OrderedDict[str, str] = OrderedDict()

    # The link and the cookie

    def make_link(self) -> str:
        """The secret of a new one-time link."""
        secret = secrets.token_urlsafe(32)
        self._links[digest_of(secret)] = self._clock() + LINK_SECONDS
        return secret

    def use_link(self, secret: str) -> bool:
        """Whether the link is valid. It is not, from now on."""
        ends = self._links.pop(digest_of(secret), None)
        return ends is not None and self._clock() < ends

    def make_cookie(self, request: Request) -> str:
        """A new cookie, as the value of the `set-cookie` header."""
        secret = secrets.token_urlsafe(32)
        self._cookies[digest_of(secret)] = None
        while len(self._cookies) > MOST_SIGNED_IN:
            self._cookies.popitem(last=False)
        secure = "; Secure" if request.is_tls else ""
        return f"{cookie_name(request)}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def is_signed_in(self, request: Request) -> bool:
        secret = _cookie_of(request)
        if not secret:
            return False
        digest = digest_of(secret)
        return sum(hmac.compare_digest(digest, known) for known in self._cookies) > 0

    # Forms

    def make_nonce(self, purpose: str) -> str:
        """A word that one form may use, once, for one purpose."""
        nonce = secrets.token_urlsafe(16)
        self._nonces[nonce] = purpose
        while len(self._nonces) > MOST_NONCES:
            self._nonces.popitem(last=False)
        return nonce

    def use_nonce(self, nonce: str) -> str | None:
        """What the form with this word is for; None where it was used, or never given out."""
        return self._nonces.pop(nonce, None)


def cookie_name(request: Request) -> str:
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"turnout-pages-{port if port.isdecimal() else 'default'}"


def _cookie_of(request: Request) -> str:
    wanted = cookie_name(request)
    for part in request.headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == wanted:
            return value
    return ""
