"""Placeholders: empty folders where nothing may be created while a command runs.

Git ignores an empty `.git`. Sandboxes of other sessions may use the same placeholder: each holds a
shared lock, and the last one, which can get an exclusive lock, removes the folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PLACEHOLDER = 0o1500  # a mode that no folder has by chance, so that we recognise ours


def is_empty(path: str) -> bool:
    try:
        with os.scandir(path) as found:
            return next(found, None) is None
    except OSError:
        return False


@contextmanager
def placeholder(path: str) -> Iterator[None]:
    """An empty folder in a place that must stay empty, for as long as any session needs it."""
    import fcntl  # only here: Windows does not have it, and has no sandbox either

    descriptor = _open_locked(path)
    try:
        yield
    finally:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_IMODE(os.fstat(descriptor).st_mode) == PLACEHOLDER:
                os.rmdir(path)
        except OSError:
            pass  # another session still needs it, or something was put in from outside
        finally:
            os.close(descriptor)


def _open_locked(path: str) -> int:
    """The folder, created if necessary, open and locked; tried again if it vanished before the lock."""
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
