"""The filter of system calls, read by a small interpreter of its own."""

from __future__ import annotations

import struct

import pytest

from turnout.tools.confine.syscalls import DENIED, MACHINES, MODES, SET_ID, filter_for

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the kernel would answer: classic BPF, as far as the filter uses it."""
    own = MACHINES[machine][1]
    data = {0: number, 4: own if architecture is None else architecture}
    data |= {16 + 8 * at: value & 0xFFFFFFFF for at, value in enumerate(arguments)}
    steps = list(struct.iter_unpack("=HBBI", filter_for(machine)))
    at = loaded = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        match code:
            case 0x20:
                loaded = data.get(value, 0)
            case 0x15:
                at += if_true if loaded == value else if_false
            case 0x35:
                at += if_true if loaded >= value else if_false
            case 0x45:
                at += if_true if loaded & value else if_false
            case 0x06:
                return int(value)


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_listed_is_denied_and_the_rest_is_allowed(machine: str) -> None:
    """Reading and writing pass; every call of the list is refused with EPERM."""
    column = MACHINES[machine][0]
    assert {verdict(machine, numbers[column]) for numbers in DENIED.values()} == {EPERM}
    assert verdict(machine, {"x86_64": 0, "aarch64": 63}[machine]) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_a_program_cannot_be_made_to_run_as_its_owner(machine: str) -> None:
    """A mode with the set-id bits is denied, another mode is not."""
    number = MODES["fchmod"][0][MACHINES[machine][0]]
    assert (verdict(machine, number, 3, SET_ID), verdict(machine, number, 3, 0o755)) == (EPERM, ALLOW)


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_machine_end_the_process(machine: str) -> None:
    """They would mean other things by the same numbers."""
    assert verdict(machine, 1, architecture=7) == KILL


def test_openat2_is_said_to_be_missing() -> None:
    """Its mode cannot be seen by a filter; programs then use openat."""
    assert verdict("x86_64", 437) == ENOSYS


def test_an_unknown_machine_has_no_filter() -> None:
    """The sandbox then works without one."""
    assert filter_for("riscv64") == b""
