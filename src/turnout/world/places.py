"""Where things are kept: the user's configuration, data and state, as XDG has it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from ..errors import UsageError


class Places(Struct, frozen=True):
    """Folders of one user. Nothing is created until something is written."""

    config: Path
    data: Path
    state: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Places:
        variables = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        home = environment.get("HOME") or os.path.expanduser("~")
        return _places_of(home, *(environment.get(name, "") for name in variables))


@lru_cache(16)  # every session asks, and a gateway has one for each request
def _places_of(home: str, config: str, data: str, state: str) -> Places:
    def folder_of(given: str, usual: str) -> Path:
        return (Path(given) if given.startswith("/") else Path(home, usual)) / "turnout"

    return Places(
        folder_of(config, ".config"), folder_of(data, ".local/share"), folder_of(state, ".local/state")
    )


def private_folder(path: Path) -> Path:
    """The folder, made for its owner alone under any umask."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another process made it meanwhile, and chose its mode
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
    return path


def change_mode(path: str, mode: int) -> None:
    """Give a regular file of ours a narrower mode; a link, a folder or another user's file stays as it is.

    The file itself is opened (and not read, so that closing it drops no lock on it), then looked at,
    then changed. A path could come to mean another file between two of these steps.
    """
    if not hasattr(os, "O_PATH"):  # not Linux
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode) and found.st_mode & 0o077:
            os.chmod(path, mode)
        return
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & 0o077:
            os.chmod(f"/proc/self/fd/{descriptor}", mode)
    finally:
        os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    private_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)  # of a process that was killed, whose number is ours now
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_new(path: Path, data: bytes) -> None:
    """Write a new file that only its owner can read; never over one that is there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already, and nothing is written over; name another file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
