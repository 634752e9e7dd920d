"""Which process holds a session, and whether it still runs.

A pid alone is not enough: pids are reused, and mean nothing on another machine, after a reboot
or inside another container. So a holder also has the namespace of its pid (`place`) and the
start time of the process (`born`). A process counts as ended only when that is certain.
"""

from __future__ import annotations

import os
import socket
import time
from functools import cache
from pathlib import Path
from uuid import getnode

import msgspec
from msgspec.structs import replace

from .ports import Holder

LONGEST = 3600.0
"""No lease lasts this many seconds: one that seems to was made by the clock of an earlier boot.

On another machine, whose clock cannot be compared, a lease counts for so long after its last renewal.
"""


def clock() -> float:
    """Seconds on a clock that all processes of this machine share; changes of the date do not affect it."""
    return time.monotonic()


def this_process(since: float = 0.0, store: int = 0) -> Holder:
    """This process."""
    pid = os.getpid()
    host = socket.gethostname()
    return Holder(pid, host, since, process_namespace(), process_start(pid), store, machine_name())


def is_same_store(one: Holder, other: Holder) -> bool:
    """Whether both are the same store of the same process."""
    return replace(one, since=0.0) == replace(other, since=0.0)


@cache
def process_namespace() -> str:
    """This boot and pid namespace: within it, pids and the clock have the same meaning."""
    boot = _read_text("/proc/sys/kernel/random/boot_id") or f"{socket.gethostname()}-{getnode():x}"
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{boot}/{namespace}"


@cache
def machine_name() -> str:
    """The machine, the same after a reboot; "" where nothing says so for certain, as in many containers."""
    return _read_text("/etc/machine-id")


def process_start(pid: int) -> int:
    """When a process started, in ticks since boot; 0 where that is unknown."""
    stat = _read_text(f"/proc/{pid}/stat")
    try:
        return int(stat.rpartition(")")[2].split()[19])
    except (IndexError, ValueError):
        return 0


def boot_of_namespace(place: str) -> str:
    return place.partition("/")[0]


def is_elsewhere(holder: Holder | None) -> bool:
    """Whether the holder's clock cannot be compared with ours: another machine, or another boot."""
    return holder is not None and boot_of_namespace(holder.place) != boot_of_namespace(process_namespace())


def is_lease_valid(
    holder: Holder | None, expires: float, now: float, renewed: float = 0.0, wall: float = 0.0
) -> bool:
    """Whether a lease by this machine's clock is valid: it has not expired, and its process has not ended.

    `renewed` and `wall` are dates: when the lease was renewed last, and now. They are used only where
    the clocks cannot be compared, because the holder may run on another machine.
    """
    if holder is None:
        return False
    if not is_elsewhere(holder):
        return now < expires <= now + LONGEST and not has_ended(holder)
    if holder.machine and holder.machine == machine_name():
        return False  # this machine was rebooted since, so the process has ended
    return wall - renewed < LONGEST


def has_ended(holder: Holder) -> bool:
    """Whether the process is known to have ended: only one of this boot and pid namespace can be."""
    if holder.place != process_namespace() or os.name == "nt":
        return False  # another namespace: the pid means nothing here. On Windows kill(pid, 0) interrupts
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # it runs, as another user
    return bool(holder.born) and process_start(holder.pid) != holder.born


def describe_holder(holder: Holder) -> str:
    """A holder as text: which process, where, since when."""
    since = f" since {time.strftime('%Y-%m-%d %H:%M', time.localtime(holder.since))}" if holder.since else ""
    if holder.pid == os.getpid() and holder.place == process_namespace():
        return f"this process{since}"
    return f"process {holder.pid} on {holder.host or 'this machine'}{since}"


def encode_holder(holder: Holder) -> bytes:
    return msgspec.json.encode(holder)


def decode_holder(data: bytes | None) -> Holder | None:
    return None if data is None else msgspec.json.decode(data, type=Holder)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
