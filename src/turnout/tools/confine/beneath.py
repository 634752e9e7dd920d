"""Opening a path beneath a directory that is held open, so that nothing leads out of it.

The kernel does it whole where it has `openat2` (Linux 5.6): with `RESOLVE_BENEATH` no
`..`, no symlink and no race ends above the root. Elsewhere `step_by_step` does the same
in small steps: each component is opened without following links, links are read and
followed by us, and `..` goes back to a directory we still hold. It costs two system calls
for each component and is as exact. Python's own path functions are not, since a link can
change between the check and the use.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from typing import TypeAlias

Opener: TypeAlias = Callable[[int, str, int, int], int]  # (root, path, flags, mode) -> descriptor

OPENAT2 = 437  # the same number on every architecture that Python runs on
NO_MAGICLINKS, BENEATH = 0x02, 0x08
MAX_LINKS = 40
RACE_TRIES = 100


class PathRefused(PermissionError):
    """The path breaks a rule of the workspace; `rule` is the fixed word that says which."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(errno.EPERM, message)
        self.rule = rule


def outside_error(path: str) -> PathRefused:
    return PathRefused("outside", f"{path} leads out of the workspace")


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def by_kernel(root: int, path: str, flags: int, mode: int = 0) -> int:
    """Open with `openat2`; the kernel refuses whatever would leave the root."""
    how = _How(flags | os.O_CLOEXEC, mode, BENEATH | NO_MAGICLINKS)
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("embedded null byte")  # as `os.open` does; C would stop reading there
    for _ in range(RACE_TRIES):
        descriptor = _libc().syscall(OPENAT2, root, name, ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return int(descriptor)
        number = ctypes.get_errno()
        # EAGAIN: something was renamed while `..` was resolved, and the kernel could not be sure.
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    if number == errno.EXDEV:
        raise outside_error(path)
    raise OSError(number, os.strerror(number), path)


def step_by_step(root: int, path: str, flags: int, mode: int = 0) -> int:
    """Open with one `openat` for each component; the same rules, kept by us."""
    if path.startswith("/"):
        raise outside_error(path)
    if path.endswith("/"):
        flags |= os.O_DIRECTORY
    steps = _Steps(root, path)
    try:
        return steps.walk(flags | os.O_CLOEXEC, mode)
    finally:
        steps.close()


class _Steps:
    """One walk: the directories entered so far, and the names still to come."""

    def __init__(self, root: int, path: str) -> None:
        self.root, self.path = root, path
        self.entered: list[int] = []
        self.names = _names_in(path)
        self.links = 0

    @property
    def here(self) -> int:
        return self.entered[-1] if self.entered else self.root

    def walk(self, flags: int, mode: int) -> int:
        while self.names:
            name = self.names.pop(0)
            if name == "..":
                self._leave_folder()
            elif (descriptor := self._step(name, flags, mode)) is not None:
                return descriptor
        return os.open(".", flags & ~os.O_CREAT, dir_fd=self.here)

    def _leave_folder(self) -> None:
        if not self.entered:
            raise outside_error(self.path)
        os.close(self.entered.pop())

    def _step(self, name: str, flags: int, mode: int) -> int | None:
        last = not self.names
        if (target := self._link(name)) is not None and not (last and flags & os.O_NOFOLLOW):
            self._follow_link(target)
            return None
        if last:
            return self._open_name(name, flags, mode)
        if (entered := self._open_name(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0)) is not None:
            self.entered.append(entered)
        return None

    def _open_name(self, name: str, flags: int, mode: int) -> int | None:
        """Open without following; None when a link has replaced the name: then look again."""
        try:
            return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=self.here)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR) or flags & os.O_NOFOLLOW:
                raise
            if self._link(name) is None:
                raise
            self._count_link()
            self.names.insert(0, name)
            return None

    def _link(self, name: str) -> str | None:
        try:
            return os.readlink(name, dir_fd=self.here)
        except OSError:
            return None  # not a link, or missing: opening it tells which

    def _follow_link(self, target: str) -> None:
        self._count_link()
        if target.startswith("/"):
            raise outside_error(self.path)
        self.names[:0] = _names_in(target)

    def _count_link(self) -> None:
        self.links += 1
        if self.links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self.path)

    def close(self) -> None:
        while self.entered:
            os.close(self.entered.pop())


def _names_in(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


_library: ctypes.CDLL | None = None


def _libc() -> ctypes.CDLL:
    global _library
    if _library is None:
        _library = ctypes.CDLL(None, use_errno=True)
        _library.syscall.restype = ctypes.c_long
        _library.syscall.argtypes = (
            ctypes.c_long,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.POINTER(_How),
            ctypes.c_size_t,
        )
    return _library


def best_opener(root: int) -> Opener:
    """`by_kernel` where the kernel has it and a container's filter lets it through."""
    if not sys.platform.startswith("linux"):
        return step_by_step
    try:
        os.close(by_kernel(root, ".", os.O_RDONLY | os.O_DIRECTORY))
    except OSError:
        return step_by_step
    return by_kernel


def whereabouts(descriptor: int) -> str | None:
    """Where an open file really is, according to the kernel; None where it does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
