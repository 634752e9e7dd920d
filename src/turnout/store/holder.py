"""Who holds a session, and whether they live.

A process number says little by itself: numbers are used again, and mean nothing on another
machine, after a reboot or inside another container. So a holder also says where its number
counts (`place`) and when it was born, and only what can be known is taken as known.
"""

from __future__ import annotations

import os
import socket
import time
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from .ports import Holder

LONGEST = 3600.0
"""Seconds that no lease lasts: one that seems to was made by the clock of an earlier boot."""


def clock() -> float:
    """Seconds that every process of this machine counts alike, whatever is done to the date."""
    return time.monotonic()


def ourselves(since: float = 0.0, store: int = 0) -> Holder:
    """This process."""
    pid = os.getpid()
    return Holder(pid, socket.gethostname(), since, place(), born(pid), store)


def same(one: Holder, other: Holder) -> bool:
    """Whether both are the same store of the same process."""
    return replace(one, since=0.0) == replace(other, since=0.0)


@cache
def place() -> str:
    """Where process numbers and the clock mean the same as here: this boot, this namespace."""
    boot = _read("/proc/sys/kernel/random/boot_id") or socket.gethostname()
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{boot}/{namespace}"


def born(pid: int) -> int:
    """When a process started, in ticks since boot; 0 where that cannot be known."""
    stat = _read(f"/proc/{pid}/stat")
    try:
        return int(stat.rpartition(")")[2].split()[19])
    except (IndexError, ValueError):
        return 0


def boot_of(place: str) -> str:
    return place.partition("/")[0]


def holds_on(holder: Holder | None, expires: float, now: float) -> bool:
    """Whether a lease is in force: not expired, and not left behind by a process that is gone."""
    if holder is None:
        return False
    if boot_of(holder.place) != boot_of(place()):
        return False  # the machine was started anew since, so nobody is left who could hold it
    return now < expires <= now + LONGEST and not is_gone(holder)


def is_gone(holder: Holder) -> bool:
    """Whether the process is known to have ended."""
    if holder.place != place() or os.name == "nt":
        return False  # another namespace: its number means nothing here; Windows would interrupt it
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # it lives, and is someone else's
    return bool(holder.born) and born(holder.pid) != holder.born


def named(holder: Holder) -> str:
    """A holder in words: which process, where, since when."""
    since = f" since {time.strftime('%Y-%m-%d %H:%M', time.localtime(holder.since))}" if holder.since else ""
    if holder.pid == os.getpid() and holder.place == place():
        return f"this process{since}"
    return f"process {holder.pid} on {holder.host or 'this machine'}{since}"


def encode(holder: Holder) -> bytes:
    return msgspec.json.encode(holder)


def decode(data: bytes | None) -> Holder | None:
    return None if data is None else msgspec.json.decode(data, type=Holder)


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
