"""Replaces the bytes of a file, whole or not at all.

They go to a new file beside the old one, which is then renamed. So a reader sees the old bytes or
the new ones, and a link that appears meanwhile is replaced, not followed. Mode and owner of the old
file stay; extended attributes do not.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress


def put_in_place(parent: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    """Put `data` under a name of an open folder; `before` is the file that it replaces."""
    temporary = f".turnout-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # A new file gets the usual mode under the umask; a replaced one stays private until it has its old mode.
    descriptor = os.open(temporary, flags, 0o666 if before is None else 0o600, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                _keep_owner_and_mode(descriptor, before)
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        _remove_file(temporary, parent)
        raise


def _keep_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):  # only the superuser may give files away
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _remove_file(name: str, parent: int) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=parent)
