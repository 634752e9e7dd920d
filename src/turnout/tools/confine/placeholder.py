"""Holding a place empty: a folder that stands where nothing may be made while a command runs.

Git takes no notice of an empty `.git`. Boxes of other sessions may stand on the same one: each
holds a shared lock, and who can have it alone at the end takes it away.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PLACEHOLDER = 0o1500  # a mode that nobody gives a folder by chance: so we know ours again


def is_empty(path: str) -> bool:
    try:
        with os.scandir(path) as found:
            return next(found, None) is None
    except OSError:
        return False


@contextmanager
def placeholder(path: str) -> Iterator[None]:
    """An empty folder in a place that must stay empty, for as long as anyone needs it."""
    import fcntl  # only here: not every system has it, and none without it has boxes

    descriptor = _open_locked(path)
    try:
        yield
    finally:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_IMODE(os.fstat(descriptor).st_mode) == PLACEHOLDER:
                os.rmdir(path)
        except OSError:
            pass  # someone else still needs it, or something was put in from outside
        finally:
            os.close(descriptor)


def _open_locked(path: str) -> int:
    """The folder, made if need be, open and locked; again when it vanished before it was locked."""
    import fcntl

    for _ in range(100):
        with suppress(FileExistsError):
            os.mkdir(path)
            os.chmod(path, PLACEHOLDER)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            if os.stat(path, follow_symlinks=False).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        os.close(descriptor)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
