"""Where the store lies, and that nobody else can read it: folders 0700, files 0600, under any umask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...errors import UsageError

FILE, FOLDER = 0o600, 0o700
COMPANIONS = ("", "-wal", "-shm")
"""SQLite's files of one database; it gives the later two the mode of the first."""


def default_path(environment: Mapping[str, str]) -> Path:
    """`$TURNOUT_STORE`, or `turnout/sessions.db` where the user's data lies."""
    if given := environment.get("TURNOUT_STORE", ""):
        return Path(given)
    base = environment.get("XDG_DATA_HOME", "")
    if not base.startswith("/"):  # the XDG rules: a relative path counts as none
        home = environment.get("HOME", "")
        if not home:
            raise UsageError("there is no HOME to keep sessions in; set TURNOUT_STORE to a file")
        base = f"{home}/.local/share"
    return Path(base, "turnout", "sessions.db")


def make_folder(folder: Path) -> None:
    """Make what is missing of a folder, for its owner alone. What was there stays as it was."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(each, FOLDER)
            os.chmod(each, FOLDER)  # the umask may have taken too much


def make_file(path: Path) -> bool:
    """Make an empty file for its owner alone; False where there was one.

    A file that exists is never opened here: to close it again would drop the locks that this
    process has on it.
    """
    try:
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, FILE)
    except FileExistsError:
        return False
    os.fchmod(opened, FILE)
    os.close(opened)
    return True


def close_to_others(path: Path) -> None:
    """Take a database's files back to their owner, should someone have opened them wider."""
    for suffix in COMPANIONS:
        file = f"{path}{suffix}"
        with suppress(OSError):
            if os.stat(file).st_mode & 0o077:
                os.chmod(file, FILE)
