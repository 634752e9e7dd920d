"""Where a system has less than ours: no `fcntl`, no terminal modules, no signals in the event loop."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.places import User, simulated

from turnout.simulate.model import demo

MISSING = ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "readline", "curses", "syslog")
WITHOUT = f"""
import sys
for name in {MISSING!r}:
    sys.modules[name] = None  # an import of it fails
import asyncio.unix_events
def refused(*arguments): raise NotImplementedError
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = refused
from turnout.surfaces.cli import main
main(prog_name="turnout")
"""

WINDOWS = WITHOUT.replace(
    "from turnout",
    """import os, signal, ssl, subprocess, tempfile
for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_PATH", "O_NONBLOCK", "O_NOCTTY", "fork", "geteuid",
             "fchmod", "pipe2", "killpg"):
    delattr(os, name)
for name in ("SIGHUP", "SIGPIPE", "SIGCHLD", "SIGXFSZ", "SIGKILL"):
    delattr(signal, name)
os.supports_dir_fd = set()
from turnout""",
    1,
)


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


def ran(
    user: User, *arguments: str, stdin: str = "", program: str = WITHOUT
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(
        command, env=user.environment, cwd=user.folder, input=stdin, capture_output=True, text=True
    )


def test_one_shot_needs_no_module_of_unix(somebody: User) -> None:
    """A question with a tool, kept in the store and gone on with."""
    asked = ran(somebody, "run", "-m", "openai:gpt-4o", "-p", "read README.md", "--output-format", "json")
    assert asked.returncode == 0, asked.stderr
    assert "A small project" in json.loads(asked.stdout)["text"]
    assert "I know 1 tool result" in ran(somebody, "run", "-c", "-p", "and?").stdout


def test_one_shot_answers_where_files_cannot_be_confined(somebody: User) -> None:
    """As on Windows: no tools for files and commands, which is said; the session is kept and gone on with."""
    asked = ran(somebody, "run", "-m", "openai:gpt-4o", "-p", "hello", program=WINDOWS)
    assert asked.returncode == 0 and asked.stdout.startswith("You said: hello\n"), asked.stderr
    assert "no tools for files and commands" in asked.stderr
    assert ran(somebody, "run", "-c", "-p", "and?", program=WINDOWS).returncode == 0


def test_plain_lines_need_no_module_of_unix(somebody: User) -> None:
    """A plain conversation works where modules of Unix are missing."""
    done = ran(somebody, "chat", "--plain", "-m", "openai:gpt-4o", stdin="hello\n/status\n")

    assert done.returncode == 0, done.stderr
    assert "You said: hello" in done.stdout and "openai:gpt-4o" in done.stdout


@pytest.mark.parametrize("command", ["config", "providers", "models", "sessions", "stats", "doctor --help"])
def test_other_commands_need_none_either(somebody: User, command: str) -> None:
    """The other commands work there too."""
    assert ran(somebody, *command.split()).returncode == 0
