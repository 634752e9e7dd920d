"""kill -9 at any moment: nothing that was seen is lost, every resume is valid, no tool runs twice."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.laws.share import ROTATION, SOAK
from tests.store.judging import judge

ROOT = Path(__file__).parent.parent.parent
KILLS = 300 if SOAK else 30
CHANGES = "pwrite64,write,fsync,fdatasync,ftruncate,unlink"


def killed(*arguments: object) -> list[dict[str, Any]]:
    """What the killing program reports."""
    command = [sys.executable, "-m", "tests.store.killing", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_kill_at_any_moment_costs_nothing_that_was_seen(quick_folder: Path) -> None:
    """Killed at random: what the user saw is stored, the history is valid, effects happened once."""
    reports = killed("random", quick_folder, KILLS, 1000 + ROTATION)

    assert [report for report in reports if report["faults"]] == []
    assert sum(report["killed"] for report in reports) == KILLS
    assert len({report["seen"] for report in reports}) > KILLS // 15, "the kills came at too few moments"


def test_a_kill_before_any_change_of_the_files_costs_nothing_that_was_seen(quick_folder: Path) -> None:
    """Killed before the n-th write, sync, cut or removal, for every n of two turns."""
    reports = killed("writes", quick_folder, 1 + (0 if SOAK else ROTATION), 1 if SOAK else 10)

    assert [report for report in reports if report["faults"]] == []
    assert len(reports) > (100 if SOAK else 10)


def traced(folder: Path, numbers: Iterator[int]) -> Iterator[tuple[int, bool]]:
    """Sessions that the kernel kills at their n-th change of the store's files, until there is none."""
    for number in numbers:
        here = folder / str(number)
        here.mkdir()
        files = [f"-P{here / 's.db'}{suffix}" for suffix in ("", "-wal", "-journal")]
        inject = f"inject={CHANGES}:signal=KILL:when={number}"
        command = ["strace", "-f", "-qq", "-o/dev/null", *files, f"-etrace={CHANGES}", "-e", inject]
        done = subprocess.run([*command, sys.executable, "-m", "tests.store.working", here], cwd=ROOT)
        yield number, done.returncode != 0
        if not done.returncode:
            return


def test_a_kill_at_any_system_call_costs_nothing_that_was_seen(quick_folder: Path) -> None:
    """The same without our file system in between: strace kills at the n-th change that the kernel sees."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    step = 1 if SOAK else 40
    died = 0
    for number, dead in traced(quick_folder, iter(range(1 if SOAK else 1 + 4 * ROTATION, 10_000, step))):
        died += dead
        assert judge(quick_folder / str(number)) == []
    assert died >= (60 if SOAK else 1)
