"""The debug log: requests, statuses and reports as JSON lines, without known secrets."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

from ...errors import UsageError
from ...plain import plain
from ...wire.request import WireRequest
from ...world.secrets import Secrets

FIRST = b'{"what": '
"""How every line of the log begins. A log of an earlier run is recognised by it."""


class DebugLog:
    """Writes to a file that only its owner can read. Without a path it writes nothing."""

    def __init__(self, path: str | None, secrets: Secrets) -> None:
        self._file: Any = None
        self._secrets = secrets
        if path is not None:
            self._file = _open_log(path)

    def __call__(self, what: str, **facts: Any) -> None:
        if self._file is not None:
            line = json.dumps({"what": what, **{name: _plain_fact(fact) for name, fact in facts.items()}})
            self._file.write(self._secrets.hide(line) + "\n")
            self._file.flush()


def _open_log(path: str) -> Any:
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # opening a pipe would block
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | careful, 0o600)
    except OSError as error:
        raise UsageError(f"--debug {path!r} cannot be written: {error.strerror}; give another file") from None
    if fault := _fault_of(descriptor):
        os.close(descriptor)
        raise UsageError(f"--debug {path!r} {fault}; name a new file")
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8")


def _fault_of(descriptor: int) -> str:
    """Why this file cannot be our log: it is not a plain file of ours, or it holds something else."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return "is another user's file"
    return "" if os.read(descriptor, len(FIRST)) in (FIRST, b"") else "holds something other than a debug log"


def _plain_fact(fact: Any) -> Any:
    if isinstance(fact, WireRequest):
        return {
            "method": fact.method,
            "url": fact.url,
            "body": plain(fact.json),
            "report": plain(fact.report),
        }
    return plain(fact)
