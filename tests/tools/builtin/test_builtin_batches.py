"""The built-in tools under the scheduler: batches on one folder, cut, cancelled and confined."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.tools.builtin import BUILTIN
from turnout.tools.confine.output import SavedOutput
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.policy.rules import Policy


@pytest.fixture
def desk(root: Path, tmp_path: Path) -> Iterator[Desk]:
    saved = SavedOutput(tmp_path / "saved")
    with WorkspaceFiles(root, saved=saved) as workspace:
        yield Desk(*BUILTIN, workspace=workspace, save=saved.save)


def test_edits_of_one_file_in_one_batch_all_arrive(desk: Desk, root: Path) -> None:
    """Twelve parallel edits under four spellings of the path, and none is lost (S-113)."""
    (root / "src").mkdir()
    (root / "code").symlink_to("src")
    (root / "src/a.txt").write_text("".join(f"<{number}>\n" for number in range(12)))
    spellings = ["src/a.txt", "./src/a.txt", "code/a.txt", str(root / "src/a.txt")]
    edits = [
        call("edit_file", str(n), path=spellings[n % 4], old_text=f"<{n}>", new_text=f"[{n}]")
        for n in range(12)
    ]
    go(desk.run(*edits))
    assert set(desk.statuses().values()) == {"complete"}
    assert (root / "src/a.txt").read_text() == "".join(f"[{number}]\n" for number in range(12))


def test_ten_large_results_share_the_budget_and_can_be_read_in_full(desk: Desk, root: Path) -> None:
    """Each is cut to its share, names its file, and the file is readable (S-123)."""
    (root / "big.txt").write_text("".join(f"line {number} {'x' * 60}\n" for number in range(5_000)))
    go(desk.run(*(call("read_file", str(n), path="big.txt", offset=n * 100 + 1) for n in range(10))))
    texts = [desk.text(str(n)) for n in range(10)]
    assert sum(map(len, texts)) < 165_000
    path = texts[-1].partition("the whole is in ")[2].partition(" …]")[0]
    go(desk.run(call("read_file", "again", path=path, limit=2)))
    assert "lines 901-" in desk.text("again")


def test_a_cancelled_shell_is_gone_and_what_it_said_is_kept(desk: Desk, root: Path) -> None:
    """From the session's cancel to the last process, and the outcome is `cancelled`."""

    async def cancelled() -> float:
        command = "echo begun; (setsid sleep 60 & echo $! > pid); sleep 60"
        run = asyncio.create_task(desk.run(call("shell", "s", command=command)))
        while not (root / "pid").exists() or not desk.progress():
            await asyncio.sleep(0.01)
        started = time.monotonic()
        desk.scheduler.cancel()
        await run
        return time.monotonic() - started

    assert go(cancelled()) < 10
    assert desk.statuses() == {"s": "cancelled"}
    assert not any(b"sleep\x0060" in cmdline(number) for number in children())


def children() -> Iterator[int]:
    """Every process below this one."""
    parents: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(stat[1]), []).append(int(name))
    waiting = [os.getpid()]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            yield child
            waiting.append(child)


def cmdline(number: int) -> bytes:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def test_commands_of_one_batch_run_one_after_the_other(desk: Desk, root: Path) -> None:
    """They share a working folder and may touch anything, so they never overlap."""
    (root / "a").mkdir()
    go(
        desk.run(
            call("shell", "1", command="cd a; sleep 0.1; touch x"), call("shell", "2", command="ls; pwd")
        )
    )
    assert desk.text("2") == f"x\n{root}/a"


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "plan"])
def test_the_shell_always_asks(root: Path, mode: Any) -> None:
    """Without anyone to ask it does not run, in every mode but the one that allows all."""
    with WorkspaceFiles(root) as workspace:
        desk = Desk(*BUILTIN, policy=Policy(mode), workspace=workspace)
        go(desk.run(call("shell", "s", command="touch ran"), call("list_directory", "l")))
    assert desk.statuses() == {"s": "error" if mode == "plan" else "denied", "l": "complete"}
    assert not (root / "ran").exists()


def test_a_link_made_by_a_command_does_not_lead_file_tools_out(
    desk: Desk, root: Path, tmp_path: Path
) -> None:
    """What the shell prepares, the file tools still refuse."""
    (tmp_path / "secret").write_text("secret")
    go(desk.run(call("shell", "s", command="ln -s ../secret link; ln -s .. up")))
    go(
        desk.run(
            call("read_file", "1", path="link"),
            call("write_file", "2", path="link", content="x"),
            call("edit_file", "3", path="up/secret", old_text="s", new_text="x", count=1),
            call("grep", "4", pattern="secret", path="up"),
            call("list_directory", "5", path="up"),
        )
    )
    assert set(desk.statuses().values()) <= {"error", "denied"}
    assert (tmp_path / "secret").read_text() == "secret"
