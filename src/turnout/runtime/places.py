"""Where things are kept: the user's configuration, data and state, as XDG has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
        home = Path(environment.get("HOME") or os.path.expanduser("~"))

        def place(variable: str, usual: str) -> Path:
            given = environment.get(variable, "")
            return (Path(given) if given.startswith("/") else home / usual) / "turnout"

        return cls(
            place("XDG_CONFIG_HOME", ".config"),
            place("XDG_DATA_HOME", ".local/share"),
            place("XDG_STATE_HOME", ".local/state"),
        )


def private_folder(path: Path) -> Path:
    """The folder, made for its owner alone under any umask."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
    return path


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
    """A file of its own, for its owner alone; never over one that is there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already, and nothing is written over; name another file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
