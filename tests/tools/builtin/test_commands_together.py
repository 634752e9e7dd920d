"""Commands of one turn: those that only read run at the same time, all others one after the other."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.build import call
from tests.tools.schedule.scheduling import Desk, go

from turnout.tools.builtin import BUILTIN
from turnout.tools.confine.process import run_command as unconfined
from turnout.tools.confine.sandbox import sandbox_for
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.declare.registry import Registry
from turnout.tools.policy.rules import Policy
from turnout.tools.policy.situation import Situation
from turnout.tools.schedule.admission import Admitted, admit_call


@pytest.fixture
def workspace(root: Path) -> Iterator[WorkspaceFiles]:
    with WorkspaceFiles(root) as place:
        yield place


@pytest.fixture(params=["sandbox", "no sandbox"])
def desk(request: pytest.FixtureRequest, workspace: WorkspaceFiles) -> Desk:
    spawn = sandbox_for(workspace) if request.param == "sandbox" else unconfined
    return Desk(*BUILTIN, workspace=workspace, spawn=spawn)


def command(raw_id: str, line: str) -> Any:
    return call("shell", raw_id, command=line)


def feed_pipes(root: Path, *names: str) -> threading.Thread:
    """Pipes in the workspace that get their text one after the other, each when the one before was read."""
    for name in names:
        os.mkfifo(root / name)

    def feed() -> None:
        for name in names:
            with open(root / name, "w") as pipe:
                pipe.write(f"text of {name}\n")

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    return thread


def test_commands_that_only_read_run_at_the_same_time(desk: Desk, root: Path) -> None:
    """The first can end only after the last has read: one after the other they would wait for ever."""
    feeding = feed_pipes(root, "four", "three", "two", "one")
    go(desk.run(*(command(name, f"cat {name}") for name in ("one", "two", "three", "four"))))
    feeding.join(5)
    assert [desk.text(name) for name in ("one", "four")] == ["text of one", "text of four"]


def test_a_command_that_may_write_stays_in_its_place(desk: Desk, root: Path) -> None:
    """Reading before it does not see what it writes, reading after it does; the same holds for edits."""
    (root / "f").write_text("0\n")
    go(
        desk.run(
            command("a", "cat f"),
            command("b", "sleep 0.1; echo 1 > f"),
            command("c", "cat f"),
            call("edit_file", "d", path="f", old_text="1", new_text="2"),
            command("e", "cat f"),
        )
    )
    assert [desk.text(each) for each in "ace"] == ["0", "1", "2"]


def test_each_has_a_working_folder_of_its_own(desk: Desk, root: Path) -> None:
    """Two that go into folders side by side both start where the turn began; the later one chooses."""
    for name in ("a", "b"):
        (root / name).mkdir()
        (root / name / f"in_{name}").touch()
    go(desk.run(command("1", "cd a && ls"), command("2", "cd b && ls"), command("3", "ls")))
    assert desk.text("1").startswith("in_a") and desk.text("2").startswith("in_b")
    assert desk.text("3") == "a\nb"
    go(desk.run(command("4", "ls")))
    assert desk.text("4") == "in_b"


@pytest.mark.parametrize("first", ["one", "two"])
def test_which_folder_is_next_does_not_depend_on_who_ends_first(desk: Desk, root: Path, first: str) -> None:
    """The command that was called last chooses, also when it ends first."""
    for name in ("a", "b"):
        (root / name).mkdir()
    feeding = feed_pipes(root, *sorted(["one", "two"], key=lambda name: name != first))
    go(desk.run(command("1", "cd a && cat ../one"), command("2", "cd b && cat ../two")))
    feeding.join(5)
    go(desk.run(command("3", "pwd")))
    assert desk.text("3").endswith("/b")


def test_a_change_of_folder_alone_is_waited_for(desk: Desk, root: Path) -> None:
    """`cd` without more is meant for the commands after it."""
    (root / "a").mkdir()
    (root / "a" / "x").touch()
    go(desk.run(command("1", "cd a"), command("2", "ls"), command("3", "cat x")))
    assert (desk.text("2"), desk.text("3")) == ("x", "[no output]")


@pytest.mark.parametrize(
    ("line", "reading"),
    [
        ("ls -R", True),
        ("git log --oneline | head -5", True),
        ("cd a && ls", True),
        ("cd a", False),
        ("ls > x", False),
        ("npm test", False),
        ("ls; rm x", False),
        ("planted", False),
    ],
)
def test_which_commands_run_beside_others(
    workspace: WorkspaceFiles, root: Path, line: str, reading: bool
) -> None:
    """Known programs with known flags; in doubt, and for a program of the workspace's own, alone."""
    planted = root / "ls"
    environment = dict(os.environ)
    if line == "planted":
        planted.write_text("#!/bin/sh\n")
        planted.chmod(0o755)
        environment["PATH"] = f"{root}:{environment['PATH']}"
        line = "ls"
    situation = Situation(workspace, unconfined, environment)
    admitted = admit_call(command("x", line), Registry(BUILTIN), Policy("full"), situation)
    assert isinstance(admitted, Admitted)
    assert (admitted.footprint.everywhere, admitted.footprint.alone) == (reading, not reading)
    assert admitted.footprint.changes is not reading


def test_a_command_in_the_background_is_not_taken_for_reading(workspace: WorkspaceFiles) -> None:
    """It goes on when its call has ended, so others are not started beside it before it is under way."""
    wanted = call("shell", "x", command="ls", background=True)
    admitted = admit_call(wanted, Registry(BUILTIN), Policy("full"), Situation(workspace, unconfined))
    assert isinstance(admitted, Admitted) and admitted.footprint.alone
