"""Runs a command: its output as it comes, its time bounded, and no process of it left behind.

The command runs below a small program (`supervise`) that owns its whole tree of processes. We hold
one end of a socket to it. When that closes, for any reason, the supervisor ends the tree. So to
stop a command we only close a descriptor, and it stops also when we are killed.

Output is passed on in pieces and never collected here. Once the command is over we stop reading,
even if some other process still holds the other end of the pipe.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from . import supervise

Isolation = Literal["auto", "tree"]
OnOutput: TypeAlias = Callable[[bytes], None]

GRACE = 0.5  # seconds between asking a command to end and ending it
DRAIN = 0.25  # seconds to wait for output that is still in the pipe when the command is over
SUPERVISOR_PATIENCE = supervise.KILL_PATIENCE + 2.0
MARK = "TURNOUT_RUN"

ALLOWED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV")
FIXED = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
_LOCALE = re.compile(r"LC_[A-Z]+")
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


class Finished(Struct, frozen=True):
    """How a command ended: its exit code, or the signal that ended it, or why it never started."""

    code: int | None = None
    signal: int = 0
    timed_out: bool = False
    left: int = 0
    errno: int = 0
    isolated: bool = False


class Spawn(Protocol):
    """How commands are run; a session may bring its own."""

    async def __call__(
        self,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        timeout: float | None = None,
        on_output: OnOutput = ...,
        keep_open: Sequence[int] = ...,
    ) -> Finished: ...


def environment(source: Mapping[str, str], allow: Collection[str] = ()) -> dict[str, str]:
    """The part of our environment that a command gets: a short list, so that no key or token is in it.

    Relative entries of PATH are removed: in the workspace they would name its own programs.
    """
    wanted = {*ALLOWED, *allow}
    found = {name: value for name, value in source.items() if name in wanted or _LOCALE.fullmatch(name)}
    folders = [folder for folder in found.get("PATH", "").split(":") if folder.startswith("/")]
    return {**FIXED, **found, "PATH": ":".join(folders) or _USUAL_PATH}


async def run_command(
    command: Sequence[str],
    *,
    folder: int,
    environment: Mapping[str, str],
    timeout: float | None = None,
    on_output: OnOutput = lambda data: None,
    keep_open: Sequence[int] = (),
    isolation: Isolation = "auto",
    grace: float = GRACE,
) -> Finished:
    """Run a command in an open folder; afterwards all its processes are gone, in every case.

    Output and errors come together, in order, through `on_output`. When the task is
    cancelled the tree is ended first. Descriptors in `keep_open` are handed to the command.
    """
    reader, writer = os.pipe()
    try:
        output = await _connect_pipe(reader, on_output)
        try:
            program = await SupervisedProcess.start(
                command,
                folder=folder,
                environment=environment,
                keep_open=keep_open,
                isolation=isolation,
                grace=grace,
                stdin=DEVNULL,
                stdout=writer,
                stderr=writer,
            )
            os.close(writer)
            writer = -1
            try:
                return await _finish_command(program, output, timeout)
            finally:
                program.close()
        finally:
            output.close()
    finally:
        if writer >= 0:
            os.close(writer)


async def _finish_command(program: SupervisedProcess, output: _Output, timeout: float | None) -> Finished:
    ended = asyncio.ensure_future(program.process.wait())
    try:
        done, _ = await asyncio.wait([ended], timeout=timeout)
        if not done:
            await program.end_tree(ended)
        await output.wait_for_end(DRAIN)
    except asyncio.CancelledError:
        await program.end_tree(ended)
        program.result()
        raise
    return program.result(timed_out=not done)


# Imported, not run as a script: then Python caches its compiled form, which saves a third of the start.
_START = "import sys; sys.path.append(sys.argv.pop(1)); import supervise; supervise.main(sys.argv[1:])"
_SUPERVISOR = (sys.executable, "-I", "-S", "-c", _START, os.path.dirname(supervise.__file__))


class SupervisedProcess:
    """A program below its supervisor, and our end of the socket between: when it closes, the tree ends."""

    def __init__(self, process: Process, control: socket.socket, mark: str, grace: float) -> None:
        self.process, self.grace = process, grace
        self._control, self._mark = control, mark

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        keep_open: Sequence[int] = (),
        isolation: Isolation = "auto",
        grace: float = GRACE,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> SupervisedProcess:
        """Start a command in an open folder; the last three are as for `asyncio.create_subprocess_exec`."""
        mark = secrets.token_hex(8)
        ours, theirs = socket.socketpair()
        settings = (str(theirs.fileno()), str(folder), _isolation_word(isolation), str(grace))
        try:
            process = await asyncio.create_subprocess_exec(
                *(*_SUPERVISOR, *settings, *command),
                pass_fds=(theirs.fileno(), folder, *keep_open),
                env={**environment, MARK: mark},
                start_new_session=True,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return cls(process, ours, mark, grace)

    async def end_tree(self, ended: asyncio.Future[int]) -> None:
        """Close our side of the socket and wait for the supervisor, which then ends the tree."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        await asyncio.wait([ended], timeout=self.grace + SUPERVISOR_PATIENCE)
        if not ended.done():
            with suppress(ProcessLookupError):
                self.process.kill()
            await asyncio.wait([ended], timeout=1.0)

    def result(self, *, timed_out: bool = False) -> Finished:
        """How the command ended, as its supervisor reports it; nothing of it runs afterwards."""
        report = _report(self._control)
        if report is None:  # the command killed its own supervisor: find its processes by their mark
            end_marked(self._mark)
            return Finished(signal=signal.SIGKILL, timed_out=timed_out)
        status, errno, left, isolated = report
        number = -int(status) if status.startswith("-") else 0
        return Finished(
            code=None if number or status == "None" or int(errno) else int(status),
            signal=number,
            timed_out=timed_out,
            left=int(left),
            errno=int(errno),
            isolated=isolated == "True",
        )

    def close(self) -> None:
        self._control.close()


def start_python(program: str, *options: str) -> subprocess.Popen[bytes]:
    """One of our own files as a program on two pipes: apart from our environment, and easy to kill."""
    return subprocess.Popen(
        [sys.executable, "-I", *options, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        bufsize=0,
    )


def _isolation_word(wanted: Isolation) -> str:
    """A process namespace needs root; other users would need a user namespace, which changes too much."""
    return "namespace" if wanted == "auto" and os.geteuid() == 0 else "tree"


def _report(control: socket.socket) -> list[str] | None:
    control.setblocking(False)
    try:
        data = control.recv(4096)
    except OSError:
        return None
    return data.decode().split() if data.endswith(b"\n") else None


def marked_processes(mark: str) -> dict[int, str]:
    """Processes that carry a run's mark in their environment, with their start times."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if wanted in file.read().split(b"\0") and (facts := supervise.process_facts(int(name))):
                found[int(name)] = facts[2]
    return found


def end_marked(mark: str) -> None:
    """Kill the processes with a mark until there are none: for a tree whose supervisor was killed."""
    for _ in range(50):
        found = marked_processes(mark)
        if not found:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process, started in found.items():
                supervise.send_signal(process, started, number)


class _Output(asyncio.Protocol):
    """Our end of the output pipe."""

    def __init__(self, on_output: OnOutput) -> None:
        self._on_output = on_output
        self._closed = asyncio.get_running_loop().create_future()
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._on_output(data)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)

    async def wait_for_end(self, seconds: float) -> None:
        """Wait for the end of the output, but not for ever: another process may hold the pipe."""
        await asyncio.wait([self._closed], timeout=seconds)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def _connect_pipe(descriptor: int, on_output: OnOutput) -> _Output:
    loop = asyncio.get_running_loop()
    _, output = await loop.connect_read_pipe(lambda: _Output(on_output), os.fdopen(descriptor, "rb", 0))
    return output
