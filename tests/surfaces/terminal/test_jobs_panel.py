"""Commands in the background, on the screen while they run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.utils import get_cwidth
from tests.surfaces.places import User, simulated
from tests.surfaces.program import Program

from turnout.simulate import Call, Say
from turnout.simulate.request import SimulatedRequest
from turnout.surfaces.terminal.jobs_panel import MOST, JobView, job_lines


@pytest.mark.parametrize("width", [40, 80, 120])
def test_each_command_has_one_line_that_fits(width: int) -> None:
    """Its number, its time and the command; what it wrote last where there is room."""
    jobs = [
        JobView(1, "npm run dev", 5.2, "listening on 3000"),
        JobView(2, "make " + "x" * 200, 75.0, "y" * 200),
    ]
    lines = job_lines(jobs, width)
    assert all(get_cwidth(line) <= width for line in lines)
    assert lines[0].startswith(" [1] 5 s  npm run dev") and "[2] 1 min  make" in lines[1]
    assert ("listening on 3000" in lines[0]) == (width > 40)


def test_more_commands_than_fit_are_counted() -> None:
    """The rest is a command away."""
    lines = job_lines([JobView(number, "sleep", 1.0) for number in range(MOST + 2)], 80)
    assert len(lines) == MOST + 1 and "and 2 more: /jobs" in lines[-1]


def test_what_a_command_writes_steers_nothing() -> None:
    """Escapes of a command are shown as signs."""
    (line,) = job_lines([JobView(1, "run\x1b[2J", 1.0, "\x1b]0;title\x07done")], 80)
    assert "\x1b" not in line and "\x07" not in line


def model(asked: SimulatedRequest) -> list[object]:
    if asked.results:
        return [Say("started")]
    command = "echo first; sleep 2; echo second; sleep 3"
    return [Call("shell", {"command": command, "background": True})]


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, model) as user:
        yield user


@pytest.mark.parametrize("columns", [40, 80])
def test_a_running_command_is_seen_after_the_reply_and_what_it_writes(somebody: User, columns: int) -> None:
    """The panel changes while nobody types, and goes when the command is over."""
    words = ["-m", "openai:gpt-4o", "--approval-mode", "full"]
    with Program(words, somebody.environment, somebody.folder, columns) as program:
        program.wait(r"^(❯|>) ?$")
        program.say("go")
        program.wait("started")
        program.wait(r"\[1\] \d+ s  echo", scrolled=False)
        if columns == 80:
            program.wait(r"\[1\] \d+ s  echo.* > second", scrolled=False)
        program.wait("1 in the background", scrolled=False)
        program.wait(r"\A(?!.*\[1\])", scrolled=False)
