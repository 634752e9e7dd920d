"""Prompts that were queued and not sent yet, in a file: they survive a crash of the program.

One small file a session, in the user's state folder. It is there only while prompts wait. When the
session is resumed they are put back into the input line.
"""

from __future__ import annotations

import re
from pathlib import Path

from ...plain import dumps, list_in, loads
from ...world.places import Places, write_private


class UnsentPrompts:
    """The waiting prompts of the sessions of one user."""

    def __init__(self, places: Places) -> None:
        self._folder = places.state / "unsent"

    def save(self, session_id: str, texts: list[str]) -> None:
        """Remember these prompts; an empty list forgets them."""
        path = self._path_of(session_id)
        if texts:
            write_private(path, dumps(texts))
        else:
            path.unlink(missing_ok=True)

    def take(self, session_id: str) -> list[str]:
        """The prompts that were left, which are forgotten now."""
        path = self._path_of(session_id)
        try:
            found = [text for text in list_in(loads(path.read_bytes())) if isinstance(text, str)]
        except (OSError, ValueError):
            return []
        path.unlink(missing_ok=True)
        return found

    def _path_of(self, session_id: str) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', session_id)[:120]}.json"
