"""shell: one command in bash, its output as it comes, and nothing of it left running.

Each call is a new bash without profile files, so no call can affect the next. Only the working
folder carries over: when bash ends it reports where it was, and the next call starts there if the
workspace can open that place. The report is only a claim; a place outside is never entered.

A command that is known to only read (see `shell_safety`) counts as reading where a sandbox confines
it, and then it cannot write anywhere. Such commands of one turn run at the same time, each from the
current folder of the session; all others run alone.
"""

from __future__ import annotations

import asyncio
import os
import signal
from math import inf
from typing import Any

from msgspec import Struct

from ...model import Outcome, Text
from ..confine import git, process
from ..confine.beneath import PathRefused
from ..confine.file_names import escape_name
from ..confine.output import Capture, readable
from ..confine.process import Finished, Spawn
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool
from ..policy.shell_safety import judge_line
from .background import LONGEST as LONGEST_BACKGROUND
from .background import start_in_background
from .explain import workspace_of
from .shell_assessment import FOLDER, assess_command

PLACES = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash")
# From the system: the PATH may lead into the workspace, which could hold its own bash.
BASH = next((place for place in PLACES if os.access(place, os.X_OK)), "bash")
TIMEOUT = 120.0
LONGEST = 3600.0
CAPTURED = 32 * 1024  # bytes of output in the result; the rest is saved
STARTS = "shell.starts"  # how many commands were started
MOVED_BY = "shell.moved_by"  # the number of the command that chose the folder
SHOWN_AT_ONCE = 8 * 1024
INTERVAL = 0.1  # seconds between two pieces of output shown


@tool(risk="risky", timeout=inf, parallel=False, paths=(), groups=("shell",), assess=assess_command)
async def shell(
    ctx: ToolContext, command: str, timeout: float = TIMEOUT, background: bool = False
) -> Outcome | str:
    """Run a command in bash and get its output (stdout and stderr together) and exit code.

    The working folder carries over from call to call while it is inside the workspace;
    variables and processes do not: everything the command started is ended with it.
    Commands that only read and are called together start in the same folder, at the same
    time. The command has no terminal and no input.

    Args:
        command: What bash should run.
        timeout: Seconds after which the command and all its processes are ended (at most 3600).
        background: Start it and go on at once, as for a server; see list_background, read_background
            and stop_background. It ends with the session at the latest.
    """
    workspace = workspace_of(ctx)
    if "\0" in command:
        return error_outcome(
            "The command holds a NUL character, which programs cannot receive. Leave it out."
        )
    if background:
        return await start_in_background(
            ctx, command, lambda took: _run_detached(ctx, workspace, command, took), workspace
        )
    folder, moved = _folder(workspace, ctx.state)
    start = _start_of(ctx.state)
    seconds = min(max(timeout, 0.1), LONGEST)
    capture, live = Capture(workspace.saved, CAPTURED), LiveOutput(ctx)
    try:
        finished, place = await _run_bash(
            ctx, command, folder, seconds, lambda data: _feed_output(capture, live, data)
        )
    except PathRefused as error:
        return error_outcome(f"The command was not run: {error.strerror}.")
    finally:
        os.close(folder)
        live.close()
    notes = [moved, *_remember_folder(workspace, ctx.state, place, start), *_end_in_words(finished, seconds)]
    return _outcome_of(finished, capture, [note for note in notes if note])


def _feed_output(capture: Capture, live: LiveOutput, data: bytes) -> None:
    capture.feed(data)
    live.feed(data)


async def _run_bash(
    ctx: ToolContext, command: str, folder: int, seconds: float, on_output: process.OnOutput
) -> tuple[Finished, str]:
    reader, writer = os.pipe()
    try:
        finished = await _spawn_for(ctx, command)(
            _bash(command, writer),
            folder=folder,
            environment=_environment(ctx, command),
            timeout=seconds,
            on_output=on_output,
            keep_open=(writer,),
        )
        os.set_blocking(reader, False)
        return finished, _claimed_folder(reader)
    finally:
        os.close(reader)
        os.close(writer)


async def _run_detached(
    ctx: ToolContext, workspace: WorkspaceFiles, command: str, on_output: process.OnOutput
) -> Finished:
    """Run a command in the background; its folder does not carry over."""
    folder, _ = _folder(workspace, ctx.state)
    try:
        return await _spawn_for(ctx, command)(
            [BASH, "--noprofile", "--norc", "-c", command],
            folder=folder,
            environment=_environment(ctx, command),
            timeout=LONGEST_BACKGROUND,
            on_output=on_output,
        )
    finally:
        os.close(folder)


def _spawn_for(ctx: ToolContext, command: str) -> Spawn:
    """The session's way to run commands; a command that only reads cannot write."""
    spawn: Spawn = ctx.spawn or process.run_command
    return getattr(spawn, "read_only", spawn) if judge_line(command).only_reads else spawn


def _environment(ctx: ToolContext, command: str) -> dict[str, str]:
    """The short list of variables; for a command that needs no approval, git starts no programs."""
    found = process.environment(os.environ if ctx.environment is None else ctx.environment)
    return {**found, **git.quiet_variables()} if judge_line(command).only_reads else found


def _bash(command: str, descriptor: int) -> list[str]:
    """Bash that reports its last folder on a separate descriptor."""
    farewell = f"trap 'builtin pwd -P >&{descriptor} 2>/dev/null' EXIT; "
    return [BASH, "--noprofile", "--norc", "-c", farewell + command]


def _claimed_folder(reader: int) -> str:
    try:
        return os.fsdecode(os.read(reader, 4096)).removesuffix("\n")
    except BlockingIOError:
        return ""  # it was killed, or replaced by `exec`


def _folder(workspace: WorkspaceFiles, state: dict[str, object]) -> tuple[int, str]:
    """The folder to start in, open, and a note if it is not the one of last time."""
    wanted = str(state.get(FOLDER, "."))
    try:
        return workspace.directory(wanted), ""
    except OSError:
        state.pop(FOLDER, None)
        return workspace.directory("."), f"{escape_name(wanted)} is gone; this ran in the workspace root."


class _Start(Struct, frozen=True):
    """The number of a command, and the folder in which it found the session."""

    number: int
    folder: str


def _start_of(state: dict[str, Any]) -> _Start:
    state[STARTS] = state.get(STARTS, 0) + 1
    return _Start(state[STARTS], str(state.get(FOLDER, ".")))


def _remember_folder(
    workspace: WorkspaceFiles, state: dict[str, Any], claimed: str, start: _Start
) -> list[str]:
    """Keep the folder for the next call if it is inside; returns a note when it changed.

    Commands that run at the same time each have their own folder. Of those that changed it, the
    one that started last decides for the next call, in whatever order they end.
    """
    if not claimed:
        return []
    try:
        descriptor = workspace.directory(claimed)
    except OSError:
        stays = _folder_in_words(str(state.get(FOLDER, ".")))
        return [f"{escape_name(claimed)} is outside the workspace; the next command starts in {stays}."]
    try:
        after = workspace.place_of(descriptor) or "."
    finally:
        os.close(descriptor)
    if after == start.folder or start.number < state.get(MOVED_BY, 0):
        return []
    state[FOLDER], state[MOVED_BY] = after, start.number
    return [f"The working folder is now {_folder_in_words(after)}."]


def _folder_in_words(folder: str) -> str:
    return "the workspace root" if folder == "." else escape_name(folder)


def _end_in_words(finished: Finished, seconds: float) -> list[str]:
    notes = []
    if finished.timed_out:
        notes.append(f"Ended after {seconds:g} s with all its processes; it may have done part of its work.")
    elif finished.errno:
        notes.append(f"bash could not be started: {os.strerror(finished.errno)}.")
    elif finished.signal:
        notes.append(f"Ended by {_signal_name(finished.signal)}.")
    elif finished.code:
        notes.append(f"Exit code {finished.code}.")
    if finished.left:
        notes.append(f"{finished.left} of its processes could not be ended.")
    return notes


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _outcome_of(finished: Finished, capture: Capture, notes: list[str]) -> Outcome:
    """An exit code other than 0 is the command's answer, not a failure of the call."""
    output = capture.close().text.rstrip("\n")
    broken = finished.timed_out or finished.errno
    text = "\n".join([output or "[no output]", *(f"[{note}]" for note in notes)])
    return Outcome("error" if broken else "complete", (Text(text),))


class LiveOutput:
    """Output shown while the command runs: in pieces, a few a second, the newest when there is too much."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def feed(self, data: bytes) -> None:
        self._waiting += data[-SHOWN_AT_ONCE:]
        if len(self._waiting) > 2 * SHOWN_AT_ONCE:
            del self._waiting[:-SHOWN_AT_ONCE]
        if self._timer is None:
            self._timer = self._loop.call_at(max(self._next, self._loop.time()), self._show_waiting)

    def _show_waiting(self) -> None:
        self._timer = None
        self._next = self._loop.time() + INTERVAL
        text, self._waiting = readable(bytes(self._waiting)), bytearray()
        if text:
            self._ctx.output(text)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._show_waiting()
