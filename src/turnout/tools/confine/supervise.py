"""The process between us and a command: it owns the command's whole tree and ends it.

This file runs as a separate program and needs only the standard library. It makes itself the
parent of every orphan below it (a subreaper), so that no child escapes by leaving its process group
or session. The tree ends when the command ends, when the other side of the control socket closes
(also when we are killed), or when it is asked to: first with SIGTERM, then with SIGKILL. Where the
system allows it, the command also has its own process namespace, and then the kernel ends what is in
it.

    main([CONTROL, FOLDER, ISOLATION, GRACE, COMMAND, ARGUMENT, ...])

CONTROL and FOLDER are inherited descriptors. One line goes back on CONTROL: exit code
(negative for a signal), the error number if it could not start, how many processes could
not be ended, and whether it had a namespace.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from contextlib import suppress
from functools import cache

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
MS_NOSUID_NODEV_NOEXEC, MS_PRIVATE_RECURSIVE = 0x02 | 0x04 | 0x08, 0x40000 | 0x4000
KILL_PATIENCE = 3.0  # seconds until we give up on processes that SIGKILL does not end
UNIX = hasattr(os, "fork")  # elsewhere this file is only imported for its names
IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM) if UNIX else ()
RESTORED = (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD) if UNIX else ()


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    control, folder, isolation, grace, *command = arguments
    supervisor = Supervisor(int(control), float(grace))
    os.fchdir(int(folder))
    os.close(int(folder))
    supervisor.start(command, isolated=isolation == "namespace" and own_namespace())
    supervisor.wait()
    supervisor.end_tree()
    supervisor.report()


class Supervisor:
    """One command and everything that descends from it."""

    def __init__(self, control: int, grace: float) -> None:
        self.control, self.grace = control, grace
        os.set_inheritable(control, False)
        libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        self.awake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.child = 0
        self.status: int | None = None
        self.asked_to_stop = False
        self.isolated = False
        self.left = 0

    def start(self, command: list[str], isolated: bool) -> None:
        self.isolated = isolated
        self.notes, notes = os.pipe2(os.O_CLOEXEC)
        self.child = os.fork()
        if self.child == 0:
            become_first(command, notes) if isolated else become_command(command, notes)
        os.close(notes)

    def wait(self) -> None:
        """Wait until the command has ended, or our side has closed the socket."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(self.awake, select.POLLIN)
        while not self.reap() and self.status is None:
            ready = dict(poll.poll())
            if self.awake in ready:
                os.read(self.awake, 4096)
            if self.control in ready:  # nothing is ever sent on it: readable means closed
                self.asked_to_stop = True
                return

    def reap(self) -> bool:
        """Collect ended processes; True if none is left.

        Orphans become our children, so having no child means having no descendant. The kernel
        guarantees that; a list of processes cannot.
        """
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if process == 0:
                return False
            if process == self.child:
                self.status = status

    def end_tree(self) -> None:
        if self.asked_to_stop:
            for process, started in descendants().items():
                send_signal(process, started, signal.SIGTERM)
            self._until_empty(self.grace)
        deadline = time.monotonic() + KILL_PATIENCE
        while not self.reap() and time.monotonic() < deadline:
            kill_tree()
            self._until_empty(0.02)
        self.left = len(descendants())

    def _until_empty(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.reap() and time.monotonic() < deadline:
            time.sleep(0.002)

    def report(self) -> None:
        lines = os.read(self.notes, 100).decode().splitlines()
        notes = {kind: int(value) for kind, value in (line.split() for line in lines)}
        status = notes.get("status", self.status)
        code = None if status is None else os.waitstatus_to_exitcode(status)
        line = f"{code} {notes.get('errno', 0)} {self.left} {self.isolated}\n"
        with suppress(OSError):  # the other side may be gone
            os.write(self.control, line.encode())


def become_command(command: list[str], notes: int) -> None:
    """Turn this fork into the command; never returns."""
    import resource  # only here: others import this file for its names, where there may be none

    try:
        os.setpgid(0, 0)  # not our group, so that it can be killed as one
        for number in RESTORED:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(notes, f"errno {error.errno}\n".encode())
    finally:
        os._exit(127)


def own_namespace() -> bool:
    """Whether the next process we make is the first of a new process namespace."""
    return int(libc().unshare(CLONE_NEWPID)) == 0


def become_first(command: list[str], notes: int) -> None:
    """The first process of a namespace: when it ends, the kernel ends all others in it."""
    try:
        signal.set_wakeup_fd(-1)
        libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        mount_own_proc()
        child = os.fork()
        if child == 0:
            become_command(command, notes)
        while True:
            process, status = os.waitpid(-1, 0)
            if process == child:
                os.write(notes, f"status {status}\n".encode())
                break
    finally:
        os._exit(0)


def mount_own_proc() -> None:
    """Let `ps` and similar programs see their own namespace. Without this they see wrong numbers."""
    if libc().unshare(CLONE_NEWNS) != 0:
        return
    if libc().mount(b"none", b"/", None, MS_PRIVATE_RECURSIVE, None) == 0:
        libc().mount(b"proc", b"/proc", b"proc", MS_NOSUID_NODEV_NOEXEC, None)


# The tree below us


def descendants() -> dict[int, str]:
    """Every living process below us, with its start time: a number alone may be used again."""
    return {process: started for process, _, started, alive in processes_below() if alive}


def processes_below() -> list[tuple[int, int, str, bool]]:
    """All processes below us, also ended ones that were not collected: number, group, start time, alive."""
    children: dict[int, list[tuple[int, int, str, bool]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (facts := process_facts(int(name))):
            parent, group, started, alive = facts
            children.setdefault(parent, []).append((int(name), group, started, alive))
    found: list[tuple[int, int, str, bool]] = []
    waiting = [os.getpid()]
    while waiting:
        here = children.get(waiting.pop(), [])
        found += here
        waiting += [process for process, _, _, _ in here]
    return found


def process_facts(process: int) -> tuple[int, int, str, bool] | None:
    """Parent, group and start time of a process, and whether it is alive; None if it is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[2]), fields[19].decode(), fields[0] not in (b"Z", b"X")


def kill_tree() -> None:
    """Kill whole groups first: the kernel does that at once, so no process can fork away from it.

    Ended processes count too: one that forks and exits again and again is found by its group.
    """
    seen = processes_below()
    for group in {group for _, group, _, _ in seen} - {os.getpgrp()}:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    for process, _, started, _ in seen:
        send_signal(process, started, signal.SIGKILL)


def send_signal(process: int, started: str, number: int) -> None:
    """Signal a process if it is still the one we saw."""
    try:
        handle = os.pidfd_open(process)
    except OSError:
        return
    try:
        facts = process_facts(process)
        if facts and facts[2] == started:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        os.close(handle)
