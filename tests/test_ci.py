"""What CI installs before it tests: bounded, without root where there is none, and never in the way."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / ".ci"
NEEDED = ("bash", "cat", "dirname", "env", "grep", "mktemp", "rm", "sleep", "tail", "timeout")
PACKAGES = re.findall(r"(\w+)=[a-z]+(?=[ \"])", (SCRIPTS / "install").read_text())


class Machine:
    """A machine with a copy of the scripts and a few programs, of which some are only names."""

    def __init__(self, folder: Path) -> None:
        self.scripts = shutil.copytree(SCRIPTS, folder / "project" / ".ci")
        (folder / "bin").mkdir()
        self.bin = folder / "bin"
        for name in NEEDED:
            (self.bin / name).symlink_to(shutil.which(name) or name)
        self.has("id", "echo 0")

    def has(self, name: str, script: str = "exit 0") -> None:
        (path := self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, script: str = "install", **environment: str) -> list[str]:
        variables = {"PATH": str(self.bin), "TMPDIR": str(self.bin), **environment}
        done = subprocess.run(
            [self.scripts / script], env=variables, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_root_it_says_what_is_missing_and_ends_well(machine: Machine) -> None:
    """The tests that need it are skipped then, with a reason of their own."""
    machine.has("id", "echo 1000")
    machine.has("apt-get", "exit 1")
    small, *_, large = machine.run()
    assert small.startswith("ci: not installed: bubblewrap ripgrep ") and small.endswith(": that needs root")
    assert large.endswith(" chromium: that needs root")


def test_a_machine_without_apt_is_said(machine: Machine) -> None:
    """The packages that cannot be installed are named with the reason."""
    assert machine.run()[0].endswith(": there is no apt-get")


def test_what_cannot_be_installed_does_not_keep_the_rest(machine: Machine) -> None:
    """Each package by itself, with the reason that the installer gave."""
    machine.has("apt-get", 'case "$*" in *ripgrep) echo "E: Unable to locate ripgrep" >&2; exit 100;; esac')
    said = machine.run()
    assert "ci: bubblewrap: done" in said and "ci: tmux: done" in said
    assert "ci: ripgrep: not done: E: Unable to locate ripgrep" in said


def test_an_installer_that_hangs_is_bounded(machine: Machine) -> None:
    """The installation stops after its time limit, and CI goes on."""
    machine.has("apt-get", 'case "$*" in *update) ;; *) sleep 50;; esac')
    began = time.monotonic()
    said = machine.run(CI_INSTALL_SECONDS="2")
    assert time.monotonic() - began < 20
    assert "ci: bubblewrap: not done: the 2 s for installing are over" in said
    assert "ci: chromium: not done: the 2 s for installing are over" in said


def test_where_nothing_is_missing_nothing_is_said(machine: Machine, tmp_path: Path) -> None:
    """A machine that has every program gets no output."""
    for name in PACKAGES:
        machine.has(name)
    for name in ("@modelcontextprotocol/server-everything", "axe-core"):
        (tmp_path / "npm" / name).mkdir(parents=True)
    assert machine.run(TURNOUT_NPM=str(tmp_path / "npm")) == []


def test_the_tests_have_the_last_word(machine: Machine) -> None:
    """After the installing, whatever came of it, `make test`; its last line is the last one."""
    machine.has("make", "echo $*; echo 3 passed in 0.01s")
    assert machine.run("run")[-2:] == ["test", "3 passed in 0.01s"]
