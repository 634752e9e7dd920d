"""Background commands: started by shell; listed, read and stopped here.

They are in the session's state and end with it: the scheduler closes what it finds there. One limit
on how many may run holds for a session and all its subagents. A command runs like any other, below
its own supervisor, so ending it ends all of its processes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

from ...model import Outcome
from ..confine.file_names import escape_name
from ..confine.output import Capture
from ..confine.process import Finished, OnOutput
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool

KEY = "shell.background"  # their key in the session's state
MOST = 8  # commands that run at once, those of all subagents included
KEPT = 32  # commands that are remembered, ended ones included
LONGEST = 6 * 3600.0
CAPTURED = 16 * 1024
PATIENCE = 5.0
FIRST = 0.3  # seconds in which a command that fails at once is noticed

Start = Callable[[OnOutput], Awaitable[Finished]]


class BackgroundCommand:
    """One command in the background."""

    def __init__(self, number: int, command: str, start: Start, workspace: WorkspaceFiles) -> None:
        self.number, self.command = number, command
        self._capture = Capture(workspace.saved, CAPTURED)
        self._since = asyncio.get_running_loop().time()
        self._ended = 0.0
        self.finished: Finished | None = None
        self.error = ""
        self.task = asyncio.create_task(self._run_command(start))

    async def _run_command(self, start: Start) -> None:
        try:
            self.finished = await start(self._capture.feed)
        except OSError as error:
            self.error = str(error)
        finally:
            self._ended = asyncio.get_running_loop().time()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task}, timeout=PATIENCE)

    @property
    def state(self) -> str:
        if not self.task.done():
            return "running"
        if self.error:
            return f"failed: {self.error}"
        if self.finished is None:
            return "stopped"
        if self.finished.timed_out:
            return "ended after its time limit"
        if self.finished.errno:
            return f"could not be started: {os.strerror(self.finished.errno)}"
        return (
            f"ended by signal {self.finished.signal}"
            if self.finished.signal
            else f"exit code {self.finished.code}"
        )

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self._ended or asyncio.get_running_loop().time()) - self._since

    @property
    def line(self) -> str:
        return f"{self.number}  {self.state}, {self.seconds:.0f} s  {escape_name(self.command)[:120]}"

    @property
    def last_line(self) -> str:
        """The last line that it wrote; "" before it wrote any."""
        return self._capture.ends.text().rstrip().rpartition("\n")[2]

    @property
    def output(self) -> str:
        return self._capture.ends.text().rstrip("\n") or "[no output]"


class Background:
    """The background commands of one session."""

    def __init__(self) -> None:
        self.commands: dict[int, BackgroundCommand] = {}
        self._count = 0

    @property
    def live(self) -> list[BackgroundCommand]:
        return [each for each in self.commands.values() if not each.task.done()]

    def start(self, command: str, start: Start, workspace: WorkspaceFiles) -> BackgroundCommand:
        self._count += 1
        for number in [each.number for each in self.commands.values() if each.task.done()][: -KEPT or None]:
            del self.commands[number]
        self.commands[self._count] = BackgroundCommand(self._count, command, start, workspace)
        return self.commands[self._count]

    async def aclose(self) -> None:
        """End them all, together."""
        await asyncio.gather(*(each.stop() for each in self.live))


def background_of(ctx: ToolContext) -> Background:
    found = ctx.state.setdefault(KEY, Background())
    assert isinstance(found, Background)
    return found


async def start_in_background(
    ctx: ToolContext, command: str, start: Start, workspace: WorkspaceFiles
) -> Outcome | str:
    """Start a command and say how to read and stop it; if it ends at once, how it ended."""
    held, everyone = background_of(ctx), _running_in_tree(ctx)
    if len(everyone) >= MOST:
        return error_outcome(_limit_words(len(held.live)))
    running = held.start(command, start, workspace)
    everyone.append(running)
    await asyncio.wait({running.task}, timeout=FIRST)
    if running.task.done():
        return f"Command {running.number} has ended already: {running.state}.\n{running.output}"
    return (
        f"Command {running.number} runs in the background. "
        f"read_background with number={running.number} shows its output, stop_background ends it."
    )


def _running_in_tree(ctx: ToolContext) -> list[BackgroundCommand]:
    """The commands that run in the background for this session and all its subagents."""
    running: list[BackgroundCommand] = ctx.shared.setdefault(KEY, [])
    running[:] = [each for each in running if not each.task.done()]
    return running


def _limit_words(own: int) -> str:
    others = f", {MOST - own} of them for other agents" if own < MOST else ""
    way_on = "Stop one with stop_background first" if own else "Run it without background, or try again later"
    return f"{MOST} commands run in the background already{others}. {way_on}."


class _Unknown(Exception):
    pass


def _command_numbered(ctx: ToolContext, number: int) -> BackgroundCommand:
    held = background_of(ctx).commands
    if number not in held:
        known = ", ".join(map(str, held)) or "none"
        raise _Unknown(f"No background command has the number {number}. Known are: {known}.")
    return held[number]


@tool(risk="read", paths=(), groups=("shell",), polls=True)
async def list_background(ctx: ToolContext) -> str:
    """List the commands that shell started in the background, with their numbers and states."""
    lines = [running.line for running in background_of(ctx).commands.values()]
    return "\n".join(lines) or "Nothing was started in the background."


@tool(risk="read", paths=(), groups=("shell",), polls=True)
async def read_background(ctx: ToolContext, number: int, wait: float = 0) -> Outcome | str:
    """Show the output of a background command so far: its start and its end when there is much.

    Args:
        number: The command's number.
        wait: Seconds to wait for its end first (at most 60).
    """
    try:
        running = _command_numbered(ctx, number)
    except _Unknown as error:
        return error_outcome(str(error))
    if wait > 0 and not running.task.done():
        await asyncio.wait({running.task}, timeout=min(wait, 60.0))
    return f"{running.output}\n[command {running.line}]"


# It ends only what this session started with approval, so it needs no approval itself.
@tool(risk="read", paths=(), groups=("shell",))
async def stop_background(ctx: ToolContext, number: int) -> Outcome | str:
    """End a background command with all its processes.

    Args:
        number: The command's number.
    """
    try:
        running = _command_numbered(ctx, number)
    except _Unknown as error:
        return error_outcome(str(error))
    if running.task.done():
        return f"It had ended already: {running.state}."
    await running.stop()
    if not running.task.done():
        return error_outcome(f"Command {number} did not end within {PATIENCE:g} s; it may still run.")
    return f"Stopped.\n{running.output}"
