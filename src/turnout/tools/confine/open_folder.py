"""A folder held open, and what stands under the names in it: entries, stamps, links.

Everything here goes through the descriptor of an open folder, so the folder cannot be swapped
between the check and the use.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from .beneath import PathRefused, whereabouts

Kind = Literal["file", "directory", "link", "other"]

AS_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
NOT_BLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)  # no pipe or terminal blocks us
ONLY_LOOK = getattr(os, "O_PATH", os.O_RDONLY | NOT_BLOCKING)  # enough to see its kind and its place


class Entry(Struct, frozen=True):
    """One name in a directory; links are not followed."""

    name: str
    kind: Kind
    size: int = 0
    modified: float = 0.0
    target: str = ""


class Stamp(Struct, frozen=True):
    """Which content a file had: another inode, size or time means that someone wrote it."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class HeldFolder:
    """A folder held open, with the texts by which an absolute path may name it."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, AS_DIRECTORY | os.O_CLOEXEC)
        self.names = {path.rstrip("/"), (whereabouts(self.descriptor) or path).rstrip("/")}

    def below(self, path: str) -> str | None:
        """The rest of an absolute path below this folder; None if it is not below."""
        for name in self.names:
            if path == name or path.startswith(name + "/"):
                return path[len(name) :].lstrip("/")
        return None

    def beyond(self, relative: str) -> str:
        """A name, for policy and people, of the place outside that a path leads to."""
        place = os.path.realpath(os.path.join(min(self.names), relative))
        return place if self.below(place) is None else f"../{os.path.normpath(relative)}"

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            self.close()


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def entry_of(item: os.DirEntry[str], parent: int) -> Entry:
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:  # it vanished between the listing and now
        return Entry(item.name, "other")
    kind = kind_of(status.st_mode)
    target = (link_target(item.name, parent) or "") if kind == "link" else ""
    return Entry(item.name, kind, status.st_size, status.st_mtime, target)


def link_target(name: str, parent: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=parent)
    except OSError:
        return None


def make_directory(parent: int, name: str) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
    return os.open(name, AS_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)


def status_of(name: str, parent: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def require_file(status: os.stat_result, path: str) -> None:
    match kind_of(status.st_mode):
        case "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        case "other" | "link":
            raise not_a_file(path)


def not_a_file(path: str) -> PathRefused:
    return PathRefused("not_a_file", f"{path} is a device, pipe, socket or link, not a regular file")
