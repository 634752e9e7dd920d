"""Commands in the background: started, listed, read, ended, and gone with the session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.build import call
from tests.tools.schedule.scheduling import Desk, go

from turnout.tools.builtin import list_background, read_background, shell, stop_background
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.schedule.running import SharedTree

TOOLS = (shell, list_background, read_background, stop_background)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[WorkspaceFiles]:
    with WorkspaceFiles(tmp_path) as place:
        yield place


def started(raw_id: str, command: str) -> Any:
    return call("shell", raw_id, command=command, background=True)


async def until(path: Path) -> int:
    for _ in range(500):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path} did not come")


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_command_runs_on_while_the_conversation_does(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """It is started, listed, read and ended, with everything that it started."""

    async def talk() -> None:
        desk = Desk(*TOOLS, workspace=workspace)
        await desk.run(started("a", "echo begun; sleep 300 & echo $! > pid; wait"))
        assert "Command 1 runs in the background" in desk.text("a")
        child = await until(tmp_path / "pid")
        await desk.run(call("list_background", "b"), call("read_background", "c", number=1))
        assert desk.text("b").startswith("1  running")
        assert desk.text("c").startswith("begun\n[command 1  running")
        assert alive(child) or os.geteuid() == 0  # in a namespace of its own it has another number here
        await desk.run(call("stop_background", "d", number=1))
        assert desk.text("d") == "Stopped.\nbegun"
        await desk.run(call("list_background", "e"))
        assert desk.text("e").startswith("1  stopped")
        await desk.scheduler.close()

    go(talk())


def test_nothing_outlives_the_session(workspace: WorkspaceFiles) -> None:
    """Closing the scheduler ends what runs in the background."""
    mark = "86398.75"

    async def talk() -> None:
        desk = Desk(*TOOLS, workspace=workspace)
        await desk.run(started("a", f"setsid sleep {mark} & sleep {mark}"))
        await asyncio.sleep(0.2)
        assert _running(mark)
        await desk.scheduler.close()

    go(talk())
    assert not _running(mark)


def _running(mark: str) -> bool:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.append(Path(f"/proc/{name}/cmdline").read_bytes())
        except OSError:
            continue
    return any(line.startswith(b"sleep\0" + mark.encode()) for line in found)


def test_a_command_that_fails_at_once_says_so(workspace: WorkspaceFiles) -> None:
    """A server whose port is taken, say: no need to look later."""

    async def talk() -> None:
        desk = Desk(*TOOLS, workspace=workspace)
        await desk.run(started("a", "echo cannot bind; exit 3"))
        assert desk.text("a") == "Command 1 has ended already: exit code 3.\ncannot bind"
        await desk.run(call("stop_background", "b", number=1), call("read_background", "c", number=9))
        assert desk.text("b") == "It had ended already: exit code 3."
        assert desk.text("c") == "No background command has the number 9. Known are: 1."
        await desk.scheduler.close()

    go(talk())


def test_the_end_of_a_command_can_be_waited_for(workspace: WorkspaceFiles) -> None:
    """Up to a minute, in one call."""

    async def talk() -> None:
        desk = Desk(*TOOLS, workspace=workspace)
        await desk.run(started("a", "sleep 0.6; echo done"))
        await desk.run(call("read_background", "b", number=1, wait=30))
        assert desk.text("b").startswith("done\n[command 1  exit code 0")
        await desk.scheduler.close()

    go(talk())


def test_there_is_a_limit_to_how_many_run(workspace: WorkspaceFiles) -> None:
    """The ninth is refused, with the way on."""

    async def talk() -> None:
        desk = Desk(*TOOLS, workspace=workspace)
        for number in range(9):
            await desk.run(started(str(number), "sleep 300"))
        assert "8 commands run in the background already" in desk.text("8")
        await desk.scheduler.close()

    go(talk())


def test_a_session_and_its_subagents_share_the_limit(workspace: WorkspaceFiles) -> None:
    """Six of one and two of another are eight; the third of the other reads why, and what it can do."""

    async def talk() -> None:
        tree = SharedTree()
        one, two = (Desk(*TOOLS, workspace=workspace, tree=tree) for _ in range(2))
        await one.run(*(started(str(at), "sleep 300") for at in range(6)))
        await two.run(*(started(str(at), "sleep 300") for at in range(3)))
        assert "runs in the background" in two.text("1")
        assert "8 commands run in the background already, 6 of them for other agents" in two.text("2")
        assert "stop_background" in two.text("2")
        await one.scheduler.close()
        await two.run(started("9", "sleep 300"))
        assert "runs in the background" in two.text("9")
        await two.scheduler.close()

    go(talk())


def test_a_background_command_is_asked_for_even_if_it_only_reads() -> None:
    """It goes on when nobody looks."""
    from turnout.tools.builtin.shell_assessment import assess_command
    from turnout.tools.policy.situation import Situation

    class Boxed:
        confines, network = True, False

    situation = Situation(spawn=Boxed(), environment={"PATH": "/usr/bin"})
    assert assess_command({"command": "ls"}, situation).risk == "read"
    assert assess_command({"command": "ls", "background": True}, situation).risk == "risky"
