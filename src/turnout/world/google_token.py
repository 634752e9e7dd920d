"""A token of Google Cloud, from whatever credentials the machine has: `google-auth` finds them.

It knows service accounts, `gcloud auth application-default login`, workload identity and the
metadata server. It is loaded when a token is needed, and called in a thread, since it blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import ProviderError
from ..tools.confine.forbidden_requests import check_request

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
PATIENCE = 30.0
"""Seconds for one request of google-auth; a token is asked for with one or two of them."""


def fetch_token() -> str:
    """A fresh token. Blocks while Google is asked."""
    try:
        import google.auth
        import google.auth.exceptions
    except ImportError:
        raise ProviderError(
            "no token for vertex: set VERTEX_ACCESS_TOKEN (gcloud auth print-access-token prints one), give "
            "key_command, or install google-auth: pip install 'turnout[vertex]'",
            kind="auth",
        ) from None
    try:
        sender: Any = _send_request
        credentials: Any = google.auth.default(scopes=[SCOPE], request=sender)[0]
        credentials.refresh(sender)
    except google.auth.exceptions.GoogleAuthError as error:
        raise ProviderError(
            f"no token for vertex: {error}; run `gcloud auth application-default login`, or set "
            "GOOGLE_APPLICATION_CREDENTIALS or VERTEX_ACCESS_TOKEN",
            kind="auth",
        ) from error
    return str(credentials.token)


class _TokenResponse:
    """A response in the form that google-auth reads."""

    def __init__(self, status: int, headers: Any, data: bytes) -> None:
        self.status, self.headers, self.data = status, headers, data


def _send_request(
    url: str,
    method: str = "GET",
    body: bytes | str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float | None = None,
    **unused: Any,
) -> _TokenResponse:
    """One request of google-auth. Its own transports need another HTTP client."""
    import urllib.error
    import urllib.request

    import google.auth.exceptions

    check_request(urlsplit(url).hostname or "")
    data = body.encode() if isinstance(body, str) else body
    request = urllib.request.Request(url, data, dict(headers or {}), method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout or PATIENCE) as answer:
            return _TokenResponse(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as refusal:
        return _TokenResponse(refusal.code, refusal.headers, refusal.read())
    except OSError as error:
        raise google.auth.exceptions.TransportError(error) from error  # type: ignore[no-untyped-call]
