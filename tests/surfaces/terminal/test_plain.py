"""Lines in, lines out: it ends whenever it is told to, also while the input stays open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.surfaces.places import User, simulated, wait_for

from turnout.simulate.model import demo
from turnout.store import open_store


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


@contextmanager
def talking(user: User, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The program with an input that nobody closes."""
    command = [sys.executable, "-m", "turnout", "chat", "--plain", "-m", "openai:gpt-4o", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=user.environment, cwd=user.folder, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes], *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n".join((*lines, b"")))
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes], words: bytes) -> None:
    assert process.stdout is not None
    while words not in (line := process.stdout.readline()):
        assert line, f"it ended without {words!r}"


def test_quit_does_not_wait_for_another_line(somebody: User) -> None:
    """/quit ends the program and says how to resume."""
    with talking(somebody) as process:
        say(process, b"hello", b"/quit")
        assert process.wait(50) == 0
        assert process.stderr is not None and b"resumes this session" in process.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits_for_a_line(somebody: User, number: int) -> None:
    """SIGINT and SIGTERM end the program with exit code 0."""
    with talking(somebody) as process:
        say(process, b"hello", b"/status")
        hear(process, b"approval")  # so nothing is under way that a first Ctrl+C would only stop
        process.send_signal(number)
        assert process.wait(50) == 0


def test_a_signal_ends_it_in_mid_tool(somebody: User) -> None:
    """The tool is stopped and has its outcome; nothing is left open."""
    begun = somebody.folder / "begun"
    with talking(somebody, "--approval-mode", "full") as process:
        say(process, b"run `touch begun; sleep 60`")
        wait_for(begun)
        process.send_signal(signal.SIGTERM)
        assert process.wait(50) == 0
    with open_store(somebody.environment) as store:
        (line,) = store.list()
        assert line.holder is None and store.read(line.id).open_calls == ()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_what_is_kept_is_for_its_owner_alone(somebody: User, mask: int) -> None:
    """Sessions, lasting answers, the copied answer, exports and the debug log, under any umask."""
    before = os.umask(mask)
    try:
        lines = (b"read README.md", b"/copy", b"/export a.md", b"run `touch f`", b"a", b"/quit")
        with talking(somebody, "--debug", str(somebody.home / "log")) as process:
            say(process, *lines)
            assert process.wait(50) == 0
    finally:
        os.umask(before)
    kept = [somebody.folder / "a.md", *somebody.home.rglob("*")]
    modes = {path.name: path.stat().st_mode & 0o777 for path in kept}
    assert {"sessions.db", "grants.json", "a.md", "log"} <= set(modes)
    assert all(modes[path.name] == (0o700 if path.is_dir() else 0o600) for path in kept), modes


def test_letters_that_the_terminal_does_not_know_are_no_trouble(tmp_path: Path) -> None:
    """Characters outside the terminal's encoding are replaced."""
    with simulated(tmp_path, ["Gr\u00fc\u00dfe \u2713"]) as user:
        user.environment["PYTHONIOENCODING"] = "ascii"
        with talking(user, "--no-store") as process:
            say(process, b"hello", b"/quit")
            hear(process, b"Gr??e ?")
            assert process.wait(50) == 0


def test_bytes_that_are_no_text_are_no_trouble(somebody: User) -> None:
    """Input that is not UTF-8 is replaced."""
    with talking(somebody) as process:
        say(process, b"caf\xe9 \xff", b"/quit")
        hear(process, "You said: caf\ufffd".encode())
        assert process.wait(50) == 0
