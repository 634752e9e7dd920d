"""`!command`: the user runs a command; the model sees it with the next prompt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...model import Outcome, Text
from ...tools.confine import process
from ...tools.confine.output import Capture, readable
from ...tools.declare.events import ToolProgress, ToolResult, ToolState

if TYPE_CHECKING:
    from .talk import Talk

MOST_OUTPUT = 16 * 1024
"""Bytes of the output that the model sees."""
NAME = "!"


async def run_shell_command(talk: Talk, command: str) -> None:
    """Run a command in the workspace, show its output, and add it to the next prompt."""
    workspace = talk.session.scheduler.workspace
    capture = Capture(workspace.saved, MOST_OUTPUT)

    def take_output(data: bytes) -> None:
        capture.feed(data)
        talk.take(ToolProgress(NAME, output=readable(data)))

    talk.take(ToolState(NAME, NAME, "executing"))
    talk.screen.name_call(NAME, {"command": command})
    folder = workspace.directory(".")
    finished: process.Finished | None = None
    try:
        finished = await process.run_command(
            ["bash", "-c", command],
            folder=folder,
            environment=process.environment(talk.session.environment),
            on_output=take_output,
        )
    finally:  # also when it was stopped: the output so far is shown and sent
        os.close(folder)
        output = capture.close().text.rstrip("\n")
        talk.take(ToolResult(NAME, NAME, _outcome(finished, output)))
        talk.aside.append(Text(f"I ran this command myself:\n$ {command}\n{output}{_ending_text(finished)}"))


def _outcome(finished: process.Finished | None, output: str) -> Outcome:
    text = (Text((output or "[no output]") + _ending_text(finished)),)
    if finished is None:
        return Outcome("cancelled", text)
    failed = finished.code or finished.signal or finished.errno
    return Outcome("error" if failed else "complete", text)


def _ending_text(finished: process.Finished | None) -> str:
    if finished is None:
        return "\n[stopped]"
    return f"\n[exit code {finished.code}]" if finished.code else ""
