"""The sandbox: what a command can reach, and what it cannot."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import pytest_terminal_summary
from tests.tools.safety.boxes import needs_sandbox

from turnout.tools.confine import process
from turnout.tools.confine.beneath import PathRefused
from turnout.tools.confine.placeholder import PLACEHOLDER, placeholder
from turnout.tools.confine.process import Finished
from turnout.tools.confine.sandbox import READING_ROOM, Unconfined, sandbox_for
from turnout.tools.confine.syscalls import DENIED, filter_for
from turnout.tools.confine.workspace import WorkspaceFiles

Run = Callable[..., tuple[str, Finished]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def workspace(root: Path) -> Iterator[WorkspaceFiles]:
    with WorkspaceFiles(root) as place:
        yield place


@pytest.fixture
def run(workspace: WorkspaceFiles) -> Run:
    """Run a line of bash in the sandbox; its output and its end."""

    def ran(line: str, spawn: Any = None, folder: str = ".", **options: Any) -> tuple[str, Finished]:
        output = bytearray()
        at = workspace.directory(folder)
        command = ["bash", "--noprofile", "--norc", "-c", line]
        environment = process.environment({**os.environ, "HOME": "/home/somebody"})
        try:
            finished = asyncio.run(
                (spawn or sandbox_for(workspace))(
                    command, folder=at, environment=environment, on_output=output.extend, **options
                )
            )
        finally:
            os.close(at)
        return output.decode(), finished

    return ran


# What is denied


@needs_sandbox
def test_a_command_that_only_reads_cannot_write_or_send(
    run: Run, workspace: WorkspaceFiles, root: Path
) -> None:
    """Whatever was thought of it: all is read-only to it, and the network is off even where allowed."""
    (root / "a").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reading = sandbox_for(workspace, network=True).read_only  # type: ignore[union-attr]
        said, _ = run(f"cat a; echo x > a; touch b; rm a; echo x > /dev/tcp/127.0.0.1/{port}", reading)
    assert said.startswith("kept")
    assert said.count("Read-only file system") == 3
    assert "Connection refused" in said
    assert os.listdir(root) == ["a"] and (root / "a").read_text() == "kept"


@needs_sandbox
def test_a_command_that_only_reads_cannot_fill_the_memory(run: Run, workspace: WorkspaceFiles) -> None:
    """Its private folders lie in memory, and `sort` writes there what it cannot hold."""
    reading = sandbox_for(workspace).read_only  # type: ignore[union-attr]
    said, _ = run("head -c 300M /dev/zero > /tmp/x; df -B1 --output=size /tmp ~ /dev/shm", reading)
    assert "No space left on device" in said
    assert said.split()[-3:] == [str(READING_ROOM)] * 3


@needs_sandbox
def test_no_setting_of_the_kernel_can_be_written(run: Run) -> None:
    """Not by the superuser either, whose files they are: what is written here is what stands there."""
    said, _ = run('x=/proc/sys/kernel/core_pattern; echo "$(cat $x)" > $x || echo denied')
    assert said.endswith("denied\n")


@needs_sandbox
def test_no_file_of_a_command_runs_with_the_rights_of_its_owner(run: Run, root: Path) -> None:
    """It would stay in the workspace for everyone on the machine; all other modes can be set."""
    said, _ = run(
        "cp /bin/true a; chmod 750 a; chmod u+s a; chmod 2755 a; install -m 4755 a b; mkdir -m 777 c"
    )
    assert said.count("Operation not permitted") == 3
    modes = {name: stat.S_IMODE((root / name).stat().st_mode) for name in os.listdir(root)}
    assert modes["a"] == 0o750 and modes["c"] == 0o777 and not any(mode & 0o6000 for mode in modes.values())


@needs_sandbox
def test_programs_find_what_they_need_of_the_kernel(run: Run) -> None:
    """Shared memory, their own output by name, a terminal, and /proc to read."""
    said, _ = run(
        "echo out > /dev/stdout; echo x > /dev/shm/x && cat /dev/shm/x; head -c 2 /proc/self/stat > /dev/null"
        "; test -w /dev/ptmx && test -d /dev/pts && ls /proc/self/fd > /dev/null && echo all"
    )
    assert said == "out\nx\nall\n"


# What works


@needs_sandbox
def test_the_workspace_can_be_worked_in(run: Run, root: Path) -> None:
    """Files, folders, programs, the exit code and the working folder are as without a sandbox."""
    (root / "src").mkdir()
    said, finished = run("pwd; mkdir new; echo hi > new/a; ls /usr/bin/env; exit 3", folder="src")
    assert said == f"{root}/src\n/usr/bin/env\n"
    assert finished.code == 3
    assert (root / "src/new/a").read_text() == "hi\n"


@needs_sandbox
def test_tmp_and_home_are_private_and_can_be_written(run: Run) -> None:
    """Programs want both; nothing of it is seen outside, or by the next command."""
    said, _ = run("echo a > /tmp/turnout-seen; echo b > ~/turnout-seen; cat /tmp/turnout-seen ~/turnout-seen")
    assert said == "a\nb\n"
    assert not Path("/tmp/turnout-seen").exists()
    assert run("ls -A /tmp ~ | grep turnout-seen")[0] == ""


@needs_sandbox
def test_nothing_of_a_command_is_left_running(run: Run) -> None:
    """Not even what left its session and closed its output."""
    mark = "86399.25"
    run(f"setsid sleep {mark} >/dev/null 2>&1 & (sleep {mark} &) ; sleep {mark}", timeout=0.5)
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"sleep {mark}" not in listed.splitlines()


@needs_sandbox
def test_the_network_is_there_when_the_user_allows_it(run: Run, workspace: WorkspaceFiles) -> None:
    """A port of this machine can be reached, and only then."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = f"echo hello > /dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo sent"
        assert "sent" not in run(line)[0]
        assert run(line, sandbox_for(workspace, network=True))[0] == "sent\n"


@needs_sandbox
def test_git_reads_but_does_not_change_its_settings(run: Run, root: Path) -> None:
    """Status and log work; hooks and configuration stay as they are."""
    for words in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    before = (root / ".git/config").read_text()
    said, _ = run("git log --oneline | cut -d' ' -f2; git status --short; git config core.fsmonitor ./evil")
    assert said.startswith("x\n") and "could not lock config file" in said
    assert (root / ".git/config").read_text() == before


@needs_sandbox
def test_saved_output_can_be_read_from_a_command(root: Path, tmp_path: Path) -> None:
    """The model is told where the whole of a long result lies; a command finds it there."""
    from turnout.tools.confine.output import SavedOutput

    saved = SavedOutput(tmp_path / "saved")
    path = saved.save("the whole\n")
    with WorkspaceFiles(root, saved=saved) as workspace:
        output = bytearray()
        at = workspace.directory()
        asyncio.run(
            sandbox_for(workspace)(
                ["cat", path], folder=at, environment={"PATH": "/usr/bin:/bin"}, on_output=output.extend
            )
        )
        os.close(at)
    assert output == b"the whole\n"


@needs_sandbox
def test_secrets_stay_hidden_when_the_workspace_is_the_home_folder(tmp_path: Path) -> None:
    """Someone works in all of their home: keys and our own settings are covered there too."""
    for name in (".ssh/id", ".config/turnout/config.toml", ".netrc", "own/keys", "notes"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("canary\n")
    with WorkspaceFiles(tmp_path) as workspace:
        output = bytearray()
        at = workspace.directory()
        asyncio.run(
            sandbox_for(workspace, hidden=(str(tmp_path / "own"),))(
                ["bash", "-c", "cat notes; cat .ssh/id .config/turnout/config.toml .netrc own/keys"],
                folder=at,
                environment={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
                on_output=output.extend,
            )
        )
        os.close(at)
    assert output.count(b"canary") == 1


# Covering what is not there


@needs_sandbox
def test_covers_are_gone_when_the_command_is(run: Run, root: Path) -> None:
    """The folder is left as it was, whether the command ended or was ended."""
    assert "Read-only file system" in run("mkdir .git/hooks")[0]
    run("sleep 60", timeout=0.3)
    assert os.listdir(root) == []


def test_a_cover_stays_while_anyone_needs_it(tmp_path: Path) -> None:
    """Two sessions in one folder: the first to end must not uncover the other."""
    path = str(tmp_path / ".git")
    with placeholder(path):
        with placeholder(path):
            assert stat.S_IMODE(os.stat(path).st_mode) == PLACEHOLDER
        assert os.path.isdir(path)
    assert not os.path.exists(path)


def test_covers_of_many_at_once_end_with_none(tmp_path: Path) -> None:
    """However they overlap, the place is covered for each of them and free at the end."""
    path, missed = str(tmp_path / ".git"), []

    def often() -> None:
        for _ in range(200):
            with placeholder(path):
                if not os.path.isdir(path):
                    missed.append(1)

    threads = [threading.Thread(target=often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not missed and not os.path.exists(path)


@needs_sandbox
def test_an_empty_folder_of_the_user_is_not_taken_away(run: Run, root: Path) -> None:
    """It was not ours to begin with."""
    (root / ".turnout").mkdir()
    assert "Read-only file system" in run("touch .turnout/config.toml")[0]
    assert os.listdir(root) == [".turnout"]


@needs_sandbox
def test_a_link_in_place_of_git_is_refused(run: Run, root: Path) -> None:
    """It could be swapped while the command runs, and lead anywhere."""
    (root / ".git").symlink_to("/etc")
    with pytest.raises(PathRefused, match="symlink"):
        run("true")


# Where there is none


def test_without_bubblewrap_commands_run_openly_and_say_so(run: Run, workspace: WorkspaceFiles) -> None:
    """The stand-in names the reason; policy asks about each command on its account."""
    spawn = sandbox_for(workspace, places=("/nonexistent/bwrap",))
    assert (spawn.confines, spawn.note) == (False, "bubblewrap is not installed")
    assert run("echo still works", spawn)[0] == "still works\n"


def test_a_bubblewrap_that_does_not_work_counts_as_none(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """A kernel may forbid what it needs; what it said is handed on."""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no permissions to create new namespace >&2; exit 1\n")
    broken.chmod(0o755)
    spawn = sandbox_for(workspace, places=(str(broken),))
    assert not spawn.confines
    assert spawn.note == "bubblewrap does not work here: no permissions to create new namespace"


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc"])
def test_a_workspace_that_holds_the_system_is_not_confined(folder: str) -> None:
    """Making it writable would make the system writable."""
    with WorkspaceFiles(folder) as workspace:
        assert isinstance(sandbox_for(workspace, places=(sys.executable,)), Unconfined)


def test_the_filter_of_system_calls_has_a_step_for_each() -> None:
    """Eight bytes a step, the last one lets pass; machines that we do not know have none."""
    for machine in ("x86_64", "aarch64"):
        rules = filter_for(machine)
        assert len(rules) % 8 == 0 and len(rules) // 8 > 2 * len(DENIED)
        assert rules.endswith(b"\x06\x00\x00\x00\x00\x00\xff\x7f")
    assert filter_for("m68k") == b""


def test_a_run_of_tests_says_at_its_end_what_was_not_tested() -> None:
    """One line for each reason, the sandbox last; what was left out on purpose is not told."""

    def skipped(reason: str) -> Any:
        return SimpleNamespace(longrepr=("file", 1, f"Skipped: {reason}"))

    told: list[str] = []
    why = "the sandbox was not tested: bubblewrap is not installed"
    stats = {"skipped": [*map(skipped, (why, "ripgrep is not installed", "set TURNOUT_SOAK", why))]}
    pytest_terminal_summary(SimpleNamespace(stats=stats, write_line=told.append))
    assert told == ["1 test skipped: ripgrep is not installed", f"2 tests skipped: {why}"]
