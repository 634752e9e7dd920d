"""The process between us and a command: it owns the command's whole tree and ends it.

This file is run as a program of its own and needs nothing but the standard library. It
makes itself the parent of every orphan below it (a subreaper), so that no child gets
away by leaving its process group or session. The tree ends when the command ends, when
the other side of the control socket closes (also when we are killed), or when it is
asked to: politely first, then for good. Where the system allows it, the command also
lives in a process namespace of its own, and then the kernel ends what is in it.

    main([CONTROL, FOLDER, ISOLATION, GRACE, COMMAND, ARGUMENT, ...])

CONTROL and FOLDER are inherited descriptors. One line goes back on CONTROL: exit code
(negative for a signal), the error number if it could not start, how many processes could
not be ended, and whether it had a namespace.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import time
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
MS_NOSUID_NODEV_NOEXEC, MS_PRIVATE_RECURSIVE = 0x02 | 0x04 | 0x08, 0x40000 | 0x4000
KILL_PATIENCE = 3.0  # seconds until we give up on processes that the kernel does not let go
IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
RESTORED = (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)

libc = ctypes.CDLL(None, use_errno=True)


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
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
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
        """Until the command has ended or nobody wants it any more."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(self.awake, select.POLLIN)
        while not self.reap():
            ready = dict(poll.poll())
            if self.awake in ready:
                os.read(self.awake, 4096)
            if self.control in ready:  # nothing is ever sent to us: readable means closed
                self.asked_to_stop = True
                return

    def reap(self) -> bool:
        """Collect the dead; whether the command is among them."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if process == 0:
                return self.status is not None
            if process == self.child:
                self.status = status

    def end_tree(self) -> None:
        if self.asked_to_stop:
            signal_all(signal.SIGTERM)
            self._until_empty(self.grace)
        deadline = time.monotonic() + KILL_PATIENCE
        while descendants() and time.monotonic() < deadline:
            freeze()
            signal_all(signal.SIGKILL)
            self._until_empty(0.05)
        self.reap()
        self.left = len(descendants())

    def _until_empty(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            self.reap()
            if not descendants() or time.monotonic() >= deadline:
                return
            time.sleep(0.002)

    def report(self) -> None:
        lines = os.read(self.notes, 100).decode().splitlines()
        notes = {kind: int(value) for kind, value in (line.split() for line in lines)}
        status = notes.get("status", self.status)
        code = None if status is None else os.waitstatus_to_exitcode(status)
        line = f"{code} {notes.get('errno', 0)} {self.left} {self.isolated}\n"
        with suppress(OSError):  # whoever asked may be gone
            os.write(self.control, line.encode())


def become_command(command: list[str], notes: int) -> None:
    """Turn this fork into the command; never returns."""
    try:
        for number in RESTORED:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(notes, f"errno {error.errno}\n".encode())
    finally:
        os._exit(127)


def own_namespace() -> bool:
    """Whether the next process we make is the first of a new process namespace."""
    return int(libc.unshare(CLONE_NEWPID)) == 0


def become_first(command: list[str], notes: int) -> None:
    """The first process of a namespace: when it ends, the kernel ends all others in it."""
    try:
        signal.set_wakeup_fd(-1)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
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
    """Let `ps` and its like see the namespace they are in. Without it they see numbers that mislead."""
    if libc.unshare(CLONE_NEWNS) != 0:
        return
    if libc.mount(b"none", b"/", None, MS_PRIVATE_RECURSIVE, None) == 0:
        libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID_NODEV_NOEXEC, None)


# The tree below us


def descendants() -> dict[int, str]:
    """Every living process below us, with its start time: a number alone may be used again."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (facts := process_facts(int(name))):
            parent, started = facts
            parents.setdefault(parent, []).append((int(name), started))
    found: dict[int, str] = {}
    waiting = [os.getpid()]
    while waiting:
        for process, started in parents.get(waiting.pop(), ()):
            found[process] = started
            waiting.append(process)
    return found


def process_facts(process: int) -> tuple[int, str] | None:
    """Parent and start time of a process; None if it is gone or only waits to be collected."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if fields[0] in (b"Z", b"X"):
        return None
    return int(fields[1]), fields[19].decode()


def freeze() -> None:
    """Stop the whole tree, so that nothing is born while we kill."""
    seen: dict[int, str] = {}
    for _ in range(20):
        new = {process: started for process, started in descendants().items() if process not in seen}
        if not new:
            return
        for process, started in new.items():
            send(process, started, signal.SIGSTOP)
        seen.update(new)


def signal_all(number: int) -> None:
    for process, started in descendants().items():
        send(process, started, number)


def send(process: int, started: str, number: int) -> None:
    """Signal a process if it is still the one we saw."""
    try:
        handle = os.pidfd_open(process)
    except OSError:
        return
    try:
        facts = process_facts(process)
        if facts and facts[1] == started:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        os.close(handle)
