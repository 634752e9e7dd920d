"""`turnout run` as a process of its own: signals, pipes, and a history that is valid afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, wait_for

from turnout.history.check import violations
from turnout.simulate import Delay, Say, Stall
from turnout.simulate.model import demo
from turnout.store import open_store
from turnout.surfaces.cli.pipes import is_unread
from turnout.surfaces.shared.mcp_servers import PINS
from turnout.tools.mcp.pins import Launch, Pin, Pins
from turnout.world.config import load_config

OPENAI = ("-m", "openai:gpt-4o")


def started(user: User, *arguments: str, **pipes: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "turnout", "run", *OPENAI, *arguments]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}
    return subprocess.Popen(command, env=user.environment, cwd=user.folder, text=True, **pipes)


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_mid_tool_ends_with_130_and_a_valid_history(somebody: User, number: int) -> None:
    """The tool is stopped, the call has its outcome, the result is still written, another one goes on."""
    ask = ("-p", "run `touch begun; sleep 60`", "--approval-mode", "full", "--output-format", "json")
    with started(somebody, *ask) as process:
        wait_for(somebody.folder / "begun")
        began = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)

    assert time.monotonic() - began < 40  # long before the tool would have ended
    result = json.loads(out)
    assert (process.returncode, result["status"]) == (130, "cancelled") and "Traceback" not in err
    with open_store(somebody.environment) as store:
        history = store.read(result["session_id"])
        assert violations(history) == [] and history.open_calls == ()
    again = run(somebody, "run", "-c", "-m", "anthropic:claude-sonnet-4-5", "-p", "what happened?")
    assert again.code == 0 and "I know 1 tool result" in again.out


def test_a_signal_in_mid_answer_keeps_what_had_come(tmp_path: Path) -> None:
    """The text so far is stored, and the exit code is 130."""
    with simulated(tmp_path, [[Say("Half of it is here."), Stall(60, after=6)], "Go on."]) as user:
        with started(user, "-p", "tell", "--output-format", "stream-json") as process:
            assert process.stdout is not None
            while "text_delta" not in process.stdout.readline():
                pass
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        assert process.returncode == 130
        with open_store(user.environment) as store:
            turns = store.read(store.list(limit=1)[0].id).turns
        assert [type(turn).__name__ for turn in turns] == ["UserTurn", "ModelTurn"]
        assert run(user, "run", "-c", "-p", "and?").out == "Go on.\n"


def test_a_signal_before_the_first_byte_is_no_trouble(tmp_path: Path) -> None:
    """An early signal ends the run with exit code 130."""
    with simulated(tmp_path, [[Say("late"), Delay(60)]]) as user:
        with started(user, "-p", "tell") as process:
            ends = time.monotonic() + 60
            while not user.statuses:
                assert time.monotonic() < ends
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, "") and "Traceback" not in err


def test_a_signal_while_servers_start_ends_with_130(somebody: User) -> None:
    """Before anything is said there is nothing to keep, and nothing is left behind."""
    settings = somebody.home / ".config/turnout"
    settings.mkdir(parents=True)
    silent = {"command": sys.executable, "args": ["-c", "open('waits', 'w'); import time; time.sleep(60)"]}
    (settings / "mcp.json").write_text(json.dumps({"mcpServers": {"silent": silent}}))
    config = load_config(somebody.environment, somebody.folder)
    (server,) = config.mcp_servers().values()
    Pins(config.places.state / PINS).trust(server, Pin.of(Launch.of(server)))
    with started(somebody, "-p", "hello") as process:
        wait_for(somebody.folder / "waits")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "") and "Traceback" not in err
    assert somebody.statuses == []


def test_a_signal_that_is_ignored_stays_ignored(somebody: User) -> None:
    """`nohup turnout run …` goes on when the terminal is closed."""
    ignored = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    ask = ("-p", "run `touch begun; until [ -e gate ]; do sleep 0.05; done`", "--approval-mode", "full")
    with started(somebody, *ask, **ignored) as process:
        wait_for(somebody.folder / "begun")
        process.send_signal(signal.SIGHUP)
        (somebody.folder / "gate").touch()
        assert process.wait(60) == 0


def test_an_input_that_nobody_closes_is_said(somebody: User) -> None:
    """After two seconds without input, stderr says that the command waits for it."""
    with started(somebody, "-p", "hello", stdin=subprocess.PIPE) as process:
        assert process.stderr is not None and process.stdin is not None
        assert process.stderr.readline() == (
            "waiting for text on stdin; use `< /dev/null` if there is none\n"
        )
        out, _ = process.communicate("and more", timeout=60)
    assert process.returncode == 0 and "hello" in out


def test_a_full_disk_is_said(somebody: User) -> None:
    """A failed write is an error message, not a traceback."""
    with (
        open("/dev/full", "w") as full,
        started(somebody, "-p", "hello", "--no-store", stdout=full) as process,
    ):
        _, err = process.communicate(timeout=60)
    assert process.returncode != 0 and "turnout: " in err and "Traceback" not in err


def test_a_reader_that_goes_away_is_no_trouble(somebody: User) -> None:
    """`turnout run … | head -1` ends with 0 and without a word, and leaves a valid history."""
    ask = ("-p", "understand the code", "--output-format", "stream-json")
    with started(somebody, *ask) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("{")
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(60) == 0
    assert "Traceback" not in said and "Error" not in said
    with open_store(somebody.environment) as store:
        assert violations(store.read(store.list(limit=1)[0].id)) == []


@pytest.mark.parametrize("command", ["models", "providers", "sessions export abc", "--help"])
def test_no_command_minds_that_its_output_is_not_read(somebody: User, command: str) -> None:
    """Also where the output is written at the very end of the process."""
    with open_store(somebody.environment) as store:
        store.open("abc").user("hello")
    unread, output = os.pipe()
    os.close(unread)
    done = subprocess.run(
        [sys.executable, "-m", "turnout", *command.split()],
        env=somebody.environment,
        cwd=somebody.folder,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(output)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pipe_that_breaks_elsewhere_is_an_error() -> None:
    """Only the reader of our own output may leave."""
    unread, output = os.pipe()
    with open(output, "w") as pipe, open(os.devnull, "w") as file:
        assert not is_unread(pipe, file)
        os.close(unread)
        assert is_unread(file, pipe) and not is_unread(file)


def test_progress_goes_to_stderr_and_pipes_have_no_colour(somebody: User) -> None:
    """Piped output has no escape sequences."""
    process = started(somebody, "-p", "read README.md and app.py", stdin=subprocess.PIPE)
    out, err = process.communicate("some context", timeout=60)

    assert process.returncode == 0
    assert sorted(err.splitlines()) == ["read_file: executing"] * 2
    assert "\x1b" not in out + err and "README.md" in out
