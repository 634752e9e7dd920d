"""The same conversation interactive, one-shot and as a subagent leaves the same history."""

from __future__ import annotations

import asyncio
import io
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from tests.surfaces.cli.oneshot import run, standing_in
from tests.surfaces.places import User, simulated, wait_for
from tests.surfaces.program import Program

from turnout.history.log import History
from turnout.model import ModelTurn, ToolCall, Turn
from turnout.simulate import Call, Say, SimulatedRequest, Think
from turnout.store import open_store
from turnout.surfaces.shared.open_session import SessionArguments, configuration
from turnout.surfaces.terminal.opener import Opener
from turnout.surfaces.terminal.plain import Plain
from turnout.surfaces.terminal.talk import Talk
from turnout.surfaces.terminal.theme import Theme

PROMPT = "Look at both files and at one that is not there, then run a command."
MODEL = "anthropic:claude-sonnet-4-5"


def model(asked: SimulatedRequest) -> Any:
    """Three calls at once, one of them in vain; then one that is refused; then an answer."""
    if "task" in asked.tools and asked.user.startswith("delegate"):
        return ["Done."] if asked.results else [Call("task", {"prompt": PROMPT})]
    results = [name for name, _, _ in asked.results]
    if not results:
        files = ("README.md", "app.py", "missing.txt")
        return [Think("Three at once."), *(Call("read_file", {"path": path}) for path in files)]
    if "shell" not in results:
        return [Say("Now a command."), Call("shell", {"command": "touch nothing"})]
    return [Say("That is all.")]


def told(history: History) -> list[tuple[Any, ...]]:
    """What a history says, without the names that differ from session to session."""
    return [part for turn in history.turns for part in _told(turn, history)]


def _told(turn: Turn, history: History) -> Sequence[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for block in turn.blocks:
        if isinstance(block, ToolCall):
            outcome = history.interaction(block.id).outcome
            assert outcome is not None
            found.append((block.name, block.arguments, outcome.status, outcome.text, outcome.reason))
        else:
            found.append((type(block).__name__, getattr(block, "text", "")))
    stop = turn.stop if isinstance(turn, ModelTurn) else ""
    return [(type(turn).__name__, stop), *found]


def interactively(user: User) -> str:
    with standing_in(user, user.folder):
        wanted = SessionArguments(model=MODEL, deny=("shell",))

        async def talk() -> str:
            opened = Talk(Opener(wanted, configuration(wanted)), MODEL)
            await Plain(opened, Theme(colour=False), io.StringIO(f"{PROMPT}\n"), io.StringIO()).converse()
            return opened.session.id

        return asyncio.run(talk())


def test_three_ways_one_history(tmp_path: Path) -> None:
    """The library, `run` and `chat` store the same history for the same conversation."""
    with simulated(tmp_path, model) as user:
        typed = interactively(user)
        ask = ("run", "-m", MODEL, "--deny", "shell", "--output-format", "json", "-p")
        shot = run(user, *ask, PROMPT).result["session_id"]
        parent = run(user, *ask, "delegate").result["session_id"]
        with open_store(user.environment) as store:
            (child,) = store.list(within=parent)
            histories = [told(store.read(id)) for id in (typed, shot, child.id)]

    assert histories[0] == histories[1] == histories[2]
    statuses = [part[2] for part in histories[0] if part[0] in ("read_file", "shell")]
    assert statuses == ["complete", "complete", "error", "denied"]
    assert user.simulation is not None and not user.simulation.refusals


def stopping(asked: SimulatedRequest) -> Any:
    return (
        ["Done."] if asked.results else [Say("I wait."), Call("shell", {"command": "touch begun; sleep 60"})]
    )


def test_two_ways_to_stop_one_history(tmp_path: Path) -> None:
    """Esc in a terminal and a signal to a one-shot leave the same outcome, which the next request tells."""
    with simulated(tmp_path, stopping) as user:
        begun = user.folder / "begun"
        ask = ("-m", MODEL, "--approval-mode", "full")
        with Program(ask, user.environment, user.folder) as program:
            program.wait(r"^❯ ?$")
            program.say("wait")
            wait_for(begun)
            program.key("esc")
            program.settled("Interrupted")
            program.key("ctrl+d")
            program.ended()
        begun.unlink()
        command = [sys.executable, "-m", "turnout", "run", *ask, "-p", "wait"]
        quiet = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL}
        with Popen(command, env=user.environment, cwd=user.folder, **quiet) as process:  # type: ignore[call-overload]
            wait_for(begun)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        with open_store(user.environment) as store:
            shot, typed = (told(store.read(line.id)) for line in store.list())

    assert shot == typed
    assert [part[2] for part in shot if part[0] == "shell"] == ["cancelled"]
