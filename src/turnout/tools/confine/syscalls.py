"""A filter of system calls for commands in the sandbox, as a BPF program for the kernel.

It denies what a command of a workspace does not need and what has let programs escape from
sandboxes before: looking into other processes, mounting, new namespaces, kernel keys, loading code
into the kernel, sockets that a network namespace does not confine, typing into a terminal, and making
a file that runs with the rights of its owner (in the workspace it would stay for everyone on the
machine). Everything else is allowed.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

EPERM, ENOSYS = 1, 38
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
# BPF: load word, jump if equal, jump if >=, jump if it has one of these bits, return
LOAD, EQUAL, AT_LEAST, HAS_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Offsets in the data that the kernel gives to the filter; of an argument only the lower half is needed.
NUMBER, ARCHITECTURE, FIRST, SECOND, THIRD, FOURTH = 0, 4, 16, 24, 32, 40
X32 = 0x40000000  # calls of the x32 ABI begin here; they would pass under other numbers
TYPING = (0x5412, 0x541C)  # ioctl TIOCSTI, TIOCLINUX
FAMILIES = (15, 17, 29, 30, 31, 38, 40, 44)  # key, packet, CAN, TIPC, Bluetooth, ALG, VSOCK, XDP

# name: (x86_64, aarch64)
DENIED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "syslog": (103, 116),
}
SET_ID = 0o6000  # the bits that make a program run as its owner or its group
CREATES = 0o100 | 0o20000000  # open: O_CREAT, O_TMPFILE; without them its mode means nothing
# name: (x86_64, aarch64), where the mode is, and where the flags are that say whether it counts
MODES: dict[str, tuple[tuple[int, int], int, int]] = {
    "chmod": ((90, -1), SECOND, 0),
    "fchmod": ((91, 52), SECOND, 0),
    "fchmodat": ((268, 53), THIRD, 0),
    "fchmodat2": ((452, 452), THIRD, 0),
    "creat": ((85, -1), SECOND, 0),
    "mknod": ((133, -1), SECOND, 0),
    "mknodat": ((259, 33), THIRD, 0),
    "open": ((2, -1), THIRD, SECOND),
    "openat": ((257, 56), FOURTH, THIRD),
}
# It has its mode in memory, which a filter cannot see. Programs that find it missing use openat.
OPENAT2 = 437
# column, audit number, ioctl, socket
MACHINES = {"x86_64": (0, 0xC000003E, 16, 41), "aarch64": (1, 0xC00000B7, 29, 198)}


def filter_for(machine: str) -> bytes:
    """The filter for a machine as `platform.machine()` names it; b"" where we have none."""
    if machine not in MACHINES:
        return b""
    column, architecture, ioctl, socket = MACHINES[machine]
    program = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, architecture, 1, 0),
        _step(RETURN, KILL),  # a call made in the manner of another machine
        _step(LOAD, NUMBER),
    ]
    if machine == "x86_64":
        program += [_step(AT_LEAST, X32, 0, 1), _step(RETURN, ERRNO | EPERM)]
    program += _unless_among([numbers[column] for numbers in DENIED.values()])
    program += [_step(EQUAL, OPENAT2, 0, 1), _step(RETURN, ERRNO | ENOSYS)]
    program += _argument(ioctl, SECOND, TYPING) + _argument(socket, FIRST, FAMILIES)
    for numbers, mode, flags in MODES.values():
        if numbers[column] >= 0:
            program += _mode(numbers[column], mode, flags)
    return b"".join([*program, _step(RETURN, ALLOW)])


def _argument(call: int, place: int, values: Sequence[int]) -> list[bytes]:
    """Deny a call when an argument of it is one of these."""
    looked_at = [_step(LOAD, place), *_unless_among(values), _step(RETURN, ALLOW)]
    return [_step(EQUAL, call, 0, len(looked_at)), *looked_at]


def _mode(call: int, mode: int, flags: int) -> list[bytes]:
    """Deny a call that sets the mode of a file to one with `SET_ID`."""
    looked_at = [_step(LOAD, mode), _step(HAS_BIT, SET_ID, 0, 1), _step(RETURN, ERRNO | EPERM)]
    if flags:
        looked_at = [_step(LOAD, flags), _step(HAS_BIT, CREATES, 0, len(looked_at)), *looked_at]
    looked_at.append(_step(RETURN, ALLOW))
    return [_step(EQUAL, call, 0, len(looked_at)), *looked_at]


def _unless_among(values: Sequence[int]) -> list[bytes]:
    steps = ([_step(EQUAL, value, 0, 1), _step(RETURN, ERRNO | EPERM)] for value in values)
    return [step for pair in steps for step in pair]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
