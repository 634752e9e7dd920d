"""Where the store lies, and that nobody else can read it: folders 0700, files 0600, under any umask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..places import Places

FILE = 0o600
COMPANIONS = ("", "-wal", "-shm")
"""SQLite's files of one database; it gives the later two the mode of the first."""


def default_path(environment: Mapping[str, str]) -> Path:
    """`$TURNOUT_STORE`, or `sessions.db` where the user's data lies."""
    given = environment.get("TURNOUT_STORE", "")
    return Path(given) if given else Places.of(environment).data / "sessions.db"


def make_file(path: Path) -> bool:
    """Make an empty file for its owner alone; False where there was one.

    A file that exists is never opened here: to close it again would drop the locks that this
    process has on it.
    """
    try:
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE)
    except FileExistsError:
        return False
    os.close(opened)
    os.chmod(path, FILE)
    return True


def close_to_others(path: Path) -> None:
    """Take a database's files back to their owner, should someone have opened them wider."""
    for suffix in COMPANIONS:
        file = f"{path}{suffix}"
        with suppress(OSError):
            if os.stat(file).st_mode & 0o077:
                os.chmod(file, FILE)
