"""A request without the keys that it was sent with: for what tests look at, and for recordings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from .secrets import MARK

_SECRET_NAME = re.compile(
    r"authorization|cookie|secret|passw|credential|signature|(?:^|[-_])(?:key|token|sig)$|^key$|api[-_]?key"
    r"|security-token",
    re.IGNORECASE,
)
"""Names of headers and of query parameters whose values are never shown."""


def names_secret(name: str) -> bool:
    """Whether a header or query parameter of this name holds a key."""
    return _SECRET_NAME.search(name) is not None


def headers_without_keys(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers by lower-case name, sorted, with the values of keys redacted."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: MARK if names_secret(name) else lower[name] for name in sorted(lower)}


def url_without_keys(url: str) -> str:
    """The URL without a user, a password, and the values of keys in its query."""
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    shown = [(name, MARK if names_secret(name) else value) for name, value in pairs]
    query = urlencode(shown, safe="[]", quote_via=quote) if shown != pairs else parts.query
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def secrets_in(url: str, headers: Mapping[str, str]) -> set[str]:
    """The keys that a request was sent with: their values, so that an answer that quotes one is redacted."""
    named = [value for name, value in headers.items() if names_secret(name)]
    named += [value for name, value in parse_qsl(urlsplit(url).query) if names_secret(name)]
    named += filter(None, [urlsplit(url).password])
    return {value.removeprefix("Bearer ").removeprefix("Basic ").strip() for value in named}
