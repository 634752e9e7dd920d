"""Which sessions were opened in which folder, for `turnout -c`. A small file of the user.

The store knows nothing of folders: it may stand on a server and be shared by machines.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..plain import dumps
from .places import write_private

MOST_FOLDERS = 500
MOST_SESSIONS = 20
"""Sessions of one folder that are remembered."""


class FolderSessions:
    """The ids of sessions by folder, the last opened last. A file that cannot be read counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def ids_of(self, folder: Path) -> list[str]:
        """The sessions of a folder, the last opened first."""
        return self._all_ids().get(str(folder), [])[::-1]

    def note(self, folder: Path, id: str) -> None:
        """Remember that a session was opened in a folder. A full or locked disk is not an error."""
        known = self._all_ids()
        ids = known.pop(str(folder), [])
        if ids[-1:] == [id]:
            return
        known[str(folder)] = [*(each for each in ids if each != id), id][-MOST_SESSIONS:]
        for oldest in list(known)[: len(known) - MOST_FOLDERS]:
            del known[oldest]
        try:
            write_private(self._path, dumps(known))
        except OSError:
            return

    def _all_ids(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, list[str]])
        except (OSError, msgspec.MsgspecError):
            return {}
