"""`turnout worker`, `submit`, `runs` and `cancel` as programs, on a store in a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
pytest.importorskip("dbos", reason="dbos is not installed: pip install 'turnout[dbos]'")


def turnout(store: Path, *given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turnout", *given, "--store", str(store)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(store),
    )


def environment(store: Path) -> dict[str, str]:
    return {**os.environ, "TURNOUT_EFFECTS": str(store.parent / "effects"), "TURNOUT_SLOW": "0"}


@pytest.fixture
def worker(tmp_path: Path) -> Any:
    app = "tests.workers.app:session_for"
    command = [sys.executable, "-m", "turnout", "worker", "--store", str(tmp_path / "s.db"), "--app", app]
    running = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment(tmp_path / "s.db")
    )
    yield running
    running.kill()
    running.communicate()


def test_a_prompt_goes_through_the_commands(tmp_path: Path, worker: Any) -> None:
    """Submitted with a key and waited for, listed as JSON, and the worker ends at a signal."""
    store = tmp_path / "s.db"
    done = turnout(store, "submit", "go", "--session", "s", "--key", "k", "--wait")
    assert (done.returncode, done.stdout) == (0, "All done.\n"), done.stderr
    assert turnout(store, "submit", "go", "--session", "s", "--key", "k").stdout == "s:k\ts\n"
    (line,) = map(json.loads, turnout(store, "runs", "--json").stdout.splitlines())
    assert (line["id"], line["status"], line["text"]) == ("s:k", "complete", "All done.")
    assert turnout(store, "cancel", "s:k").stdout == ""
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0


def test_wrong_options_are_said(tmp_path: Path) -> None:
    """A time that is none, a function that is not there, an unknown run."""
    store = tmp_path / "s.db"
    assert "is not a time; write it as" in turnout(store, "submit", "go", "--at", "soon").stderr
    assert "write module:function" in turnout(store, "worker", "--app", "nothing").stderr
    assert "no run or session 'x'" in turnout(store, "cancel", "x").stderr
