"""Where the store is, with private modes: folders 0700, files 0600, under any umask.

A path may be wrong: a folder, a device, a file of another program. So it is checked before anything
is created or changed, and only files that are known to be ours get another mode.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import StoreError
from ..world.places import Places, change_mode

FILE = 0o600
COMPANIONS = ("", "-wal", "-shm")
"""The files of one SQLite database; SQLite gives the later two the mode of the first."""


def default_path(environment: Mapping[str, str]) -> Path:
    """`$TURNOUT_STORE`, or `sessions.db` in the folder for user data."""
    given = environment.get("TURNOUT_STORE", "")
    return Path(given) if given else Places.of(environment).data / "sessions.db"


def has_file(path: Path) -> bool:
    """Whether there is a file at the path; raises when there is something else."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode):
        return True
    raise StoreError(f"{path} is {kind_of(path, mode)}; a store is a file, so {_next_step(path, mode)}")


def kind_of(path: Path, mode: int) -> str:
    """What is at a path, as text."""
    if stat.S_ISLNK(mode):
        return f"a link to {os.readlink(path)}"
    return "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"


def _next_step(path: Path, mode: int) -> str:
    if stat.S_ISDIR(mode):
        return f"name a file in it, such as {path / 'sessions.db'}"
    return "name the file itself" if stat.S_ISLNK(mode) else "name a file"


def make_file(path: Path) -> bool:
    """Create an empty file that only its owner can read; False where there was one.

    A file that exists is never opened here: closing it would drop the POSIX locks that this
    process holds on it.
    """
    try:
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE)
    except FileExistsError:
        return False
    os.close(opened)
    os.chmod(path, FILE)
    return True


def close_to_others(path: Path) -> None:
    """Make the files of our database private again, if their modes were changed."""
    for suffix in COMPANIONS:
        with suppress(OSError):
            change_mode(f"{path}{suffix}", FILE)
