"""The debug log: requests, statuses and reports as JSON lines, with every known secret taken out."""

from __future__ import annotations

import json
import os
from typing import Any

from ...wire.redaction import redacted


class Debug:
    """Writes to a file that only its owner can read; without a path it is silent."""

    def __init__(self, path: str | None) -> None:
        self._file: Any = None
        if path is not None:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "a", encoding="utf-8")

    def __call__(self, what: str, **facts: Any) -> None:
        if self._file is not None:
            line = json.dumps({"what": what, **facts}, ensure_ascii=False, default=str)
            self._file.write(redacted(line) + "\n")
            self._file.flush()
