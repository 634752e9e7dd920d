"""A lock between processes: a file that is locked for as long as a block runs.

The system frees the lock when its process ends, however it ends, so no lock is ever left behind.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from ..errors import TurnoutError
from .places import private_folder

STEP = 0.02
"""Seconds between two attempts to lock a file. Tries do not block, so a wait can be cancelled."""


@contextmanager
def locked_file(path: Path, patience: float = 10.0) -> Iterator[None]:
    """Hold the lock; wait for it in this thread. For work that takes milliseconds."""
    descriptor = _open_lock(path)
    try:
        ends = time.monotonic() + patience
        while not try_lock(descriptor):
            _check_time(path, time.monotonic() < ends)
            time.sleep(STEP)
        yield
    finally:
        os.close(descriptor)  # which frees the lock


@asynccontextmanager
async def locked_file_async(path: Path, patience: float = 60.0) -> AsyncIterator[None]:
    """Hold the lock; the event loop goes on meanwhile. For work that waits for a server."""
    descriptor = _open_lock(path)
    try:
        ends = time.monotonic() + patience
        while not try_lock(descriptor):
            _check_time(path, time.monotonic() < ends)
            await asyncio.sleep(STEP)
        yield
    finally:
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    private_folder(path.parent)
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)


def _check_time(path: Path, is_left: bool) -> None:
    if not is_left:
        raise TurnoutError(f"another process holds {path} for too long; end that process, or retry later")


def try_lock(descriptor: int) -> bool:
    """Lock an open file without waiting; whether that worked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return _try_lock_on_windows(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(descriptor: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True
