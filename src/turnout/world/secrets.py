"""The secrets that a process holds, and texts without them.

A secret is known by its value: the keys that a session has read, and the values of
environment variables whose names suggest a secret. A server may echo one in an error, in any of the usual
encodings, so each value is looked for as it is, as JSON, HTML and URLs write it, as hex, and as
base64 wherever it stands inside a longer text (`Bearer KEY`, `user:KEY`).
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus

from ..errors import TurnoutError
from ..wire.shared.redaction import redact_keys

MARK = "[redacted]"
SHORTEST = 6
"""Characters below which a value is not hidden: ordinary words would be hidden too."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")


def secrets_of(environment: Mapping[str, str]) -> set[str]:
    """Values of variables whose names suggest a secret, and passwords within addresses."""
    named = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
    return named | {word for value in environment.values() for word in _IN_ADDRESS.findall(value)}


class Secrets:
    """Every secret that is known: those of the environment, and keys once a session has read them."""

    def __init__(self, environment: Mapping[str, str], keys: Callable[[], Iterable[str]] = tuple) -> None:
        self._known = frozenset(secrets_of(environment))
        self.keys = keys
        self._read: tuple[str, ...] | None = None  # the keys that `_spellings` are of
        self._spellings: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every text that must not get out, the longest first."""
        keys = tuple(self.keys())
        if keys != self._read:  # asked for each event of a stream
            self._read, self._spellings = keys, spellings_of(self._known.union(keys))
        return self._spellings

    def hide(self, text: str) -> str:
        """The text without them, and without what looks like one."""
        return redact_keys(self.hide_known(text))

    def hide_known(self, text: str) -> str:
        """The text without them; what only looks like a secret stays."""
        return without_spellings(text, self.spellings)

    def clean_error(self, error: TurnoutError) -> None:
        """Take them out of an error: what it says, and the excerpt of the reply that it carries."""
        error.args = tuple(self.hide(arg) if isinstance(arg, str) else arg for arg in error.args)
        for name in ("message", "body", "code"):
            if isinstance(text := getattr(error, name, None), str):
                setattr(error, name, self.hide(text))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets, and without what looks like one."""
    return redact_keys(without_spellings(text, spellings_of(frozenset(secrets))))


def without_spellings(text: str, spellings: tuple[str, ...]) -> str:
    for spelling in spellings:
        if spelling in text:
            text = text.replace(spelling, MARK)
    return text


@lru_cache(64)
def spellings_of(secrets: frozenset[str]) -> tuple[str, ...]:
    """Every way in which a server or a program may write these secrets down, the longest first."""
    bare = {text for secret in secrets for text in (secret, secret.strip()) if len(text) >= SHORTEST}
    every = {text for secret in bare for text in _spellings(secret)}
    return tuple(sorted(every, key=lambda text: (-len(text), text)))


def _spellings(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogateescape")
    numbered = escape(secret).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")  # as Go writes HTML
    for text in (secret, escape(secret), escape(secret, quote=False), numbered):
        yield text
        for once in _in_json(text):
            yield from (once, json.dumps(once)[1:-1])  # gateways quote a JSON body inside another
    yield repr(secret)[1:-1]
    for text in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield from (text, _PERCENT.sub(lambda found: found[0].lower(), text))
    yield from (data.hex(), data.hex().upper())
    for shift in range(3):
        yield from _in_base64(data, shift)


def _in_json(text: str) -> Iterator[str]:
    """The text as writers of JSON put it: PHP escapes slashes, Go what HTML could mistake for a tag."""
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield from (once, once.replace("/", "\\/"), once.translate(_AS_GO_DOES))


def _in_base64(data: bytes, shift: int) -> Iterator[str]:
    """The letters that stand for `data` in the base64 of a longer text, `shift` bytes after a group begins.

    Letters at both ends depend on the neighbours as well; they are left out.
    """
    letters = b64encode(bytes(shift) + data).decode().rstrip("=")
    ends_within_a_group = (shift + len(data)) % 3 != 0
    inner = letters[(0, 2, 3)[shift] : len(letters) - ends_within_a_group]
    for text in (letters[(0, 2, 3)[shift] :], inner):
        if len(text) >= SHORTEST:
            yield from (text, text.translate(_URL_SAFE))


_PERCENT = re.compile(r"%[0-9A-F]{2}")
_AS_GO_DOES: Any = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_URL_SAFE: Any = str.maketrans("+/", "-_")
