"""Where the store lies, and that nobody else can read it: folders 0700, files 0600, under any umask.

A path may be wrong: a folder, a device, a file of someone else. So it is looked at before anything
is made or changed, and only files that are known to be ours get another mode.
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
"""SQLite's files of one database; it gives the later two the mode of the first."""


def default_path(environment: Mapping[str, str]) -> Path:
    """`$TURNOUT_STORE`, or `sessions.db` where the user's data lies."""
    given = environment.get("TURNOUT_STORE", "")
    return Path(given) if given else Places.of(environment).data / "sessions.db"


def has_file(path: Path) -> bool:
    """Whether there is a file at the path; whatever else is there cannot be a store, and is refused."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode):
        return True
    raise StoreError(f"{path} is {kind_of(path, mode)}, and a store is a file; {_way_on(path, mode)}")


def kind_of(path: Path, mode: int) -> str:
    """What is at a path, in words."""
    if stat.S_ISLNK(mode):
        return f"a link to {os.readlink(path)}"
    return "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"


def _way_on(path: Path, mode: int) -> str:
    if stat.S_ISDIR(mode):
        return f"name a file in it, as {path / 'sessions.db'}"
    return "name the file itself" if stat.S_ISLNK(mode) else "name a file"


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
    """Take our own database's files back to their owner, should someone have opened them wider."""
    for suffix in COMPANIONS:
        with suppress(OSError):
            change_mode(f"{path}{suffix}", FILE)
