"""The supervisor's view of the processes below it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from turnout.tools.confine import supervise


def test_a_process_is_known_by_number_and_start_time() -> None:
    """A number alone may be used again, so a signal goes only to the process that was seen."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        parent, _, started, alive = supervise.process_facts(child.pid) or (0, 0, "", False)
        assert (parent, alive) == (os.getpid(), True)
        supervise.send_signal(child.pid, str(int(started) + 1), signal.SIGKILL)
        assert child.poll() is None
        supervise.send_signal(child.pid, started, signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL
    finally:
        child.kill()
        child.wait()


def test_descendants_are_found_with_their_children() -> None:
    """Grandchildren too, and an ended process is not among the living."""
    shell = subprocess.Popen(["sh", "-c", "sleep 60 & echo started; wait"], stdout=subprocess.PIPE)
    try:
        assert shell.stdout is not None and shell.stdout.readline() == b"started\n"
        below = {number: alive for number, _, _, alive in supervise.processes_below()}
        assert below[shell.pid] and len(below) >= 2
    finally:
        for number, started in supervise.descendants().items():
            supervise.send_signal(number, started, signal.SIGKILL)
        shell.wait(10)
    assert shell.pid not in supervise.descendants()


def test_a_process_that_is_gone_has_no_facts() -> None:
    """Its entry in /proc is missing."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert supervise.process_facts(gone.pid) is None
