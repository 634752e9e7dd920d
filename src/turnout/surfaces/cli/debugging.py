"""The debug log: requests, statuses and reports as JSON lines, with every known secret taken out.

Secrets are known by their looks and by their place: whatever a variable named like a key
holds is taken out wherever it stands, however it is encoded.
"""

from __future__ import annotations

import json
import os
import re
import stat
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from ...errors import UsageError
from ...plain import plain
from ...wire.protocol import WireRequest
from ...wire.redaction import redacted

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
FIRST = b'{"what": '
"""How every line of the log begins, by which a log of an earlier run is known."""

SHORTEST = 6
"""Characters below which a value is no secret worth hiding: it would blot out ordinary words."""


def secrets_of(environment: Mapping[str, str]) -> set[str]:
    """What the environment holds under names that speak of secrets, and passwords within addresses."""
    named = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
    return named | {word for value in environment.values() for word in _IN_ADDRESS.findall(value)}


class Secrets:
    """Every secret that is known: those of the environment, and keys once a session has read them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._known = secrets_of(environment)
        self.keys: Callable[[], Iterable[str]] = tuple  # set once there is a session

    def hide(self, text: str) -> str:
        """The text without them, and without whatever looks like one."""
        return without(text, {*self._known, *self.keys()})


class Debug:
    """Writes to a file that only its owner can read; without a path it is silent."""

    def __init__(self, path: str | None, secrets: Secrets) -> None:
        self._file: Any = None
        self._secrets = secrets
        if path is not None:
            self._file = _opened(path)

    def __call__(self, what: str, **facts: Any) -> None:
        if self._file is not None:
            line = json.dumps({"what": what, **{name: _told(fact) for name, fact in facts.items()}})
            self._file.write(self._secrets.hide(line) + "\n")
            self._file.flush()


def _opened(path: str) -> Any:
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # to open a pipe would wait
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | careful, 0o600)
    except OSError as error:
        raise UsageError(f"--debug {path!r} cannot be written: {error.strerror}") from None
    if fault := _fault_of(descriptor):
        os.close(descriptor)
        raise UsageError(f"--debug {path!r} {fault}; name a new file")
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8")


def _fault_of(descriptor: int) -> str:
    """Why this file is not for our log: it is not a plain file of ours, or holds something else."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return "is another user's file"
    return "" if os.read(descriptor, len(FIRST)) in (FIRST, b"") else "holds something other than a debug log"


def _told(fact: Any) -> Any:
    if isinstance(fact, WireRequest):
        return {
            "method": fact.method,
            "url": fact.url,
            "body": plain(fact.json),
            "report": plain(fact.report),
        }
    return plain(fact)


def without(line: str, secrets: Iterable[str]) -> str:
    """The line with these secrets, and whatever looks like one, taken out."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            for written in _written(secret):
                line = line.replace(written, "[redacted]")
    return redacted(line)


@lru_cache(256)
def _written(secret: str) -> tuple[str, ...]:
    """The ways in which a server or a program may write a secret down."""
    data = secret.encode("utf-8", "surrogateescape")
    encoded = [encode(data).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode)]
    quoted = [quote(data, safe=""), quote(data), quote_plus(data)]
    return tuple(dict.fromkeys([json.dumps(secret)[1:-1], secret, *quoted, *encoded, data.hex()]))
