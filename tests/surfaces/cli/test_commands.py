"""The smaller commands, help that teaches, and a start that loads only what it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user

from turnout.simulate.model import demo
from turnout.surfaces.cli import COMMANDS, SECTIONS

HEAVY = ("prompt_toolkit", "rich", "apsw", "httpx2", "starlette", "uvicorn", "markdown_it", "asyncio")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_start_is_light(argument: str) -> None:
    """`--version` and `--help` load no terminal, database, HTTP client or event loop."""
    code = (
        "import sys\nfrom turnout.surfaces.cli import main\n"
        f"try: main([{argument!r}])\nexcept SystemExit: pass\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.rpartition("LOADED")[2].split()
    assert not set(HEAVY) & set(loaded)


LATER = {"rich", "markdown_it", "pygments", "httpx2", "mcp", "starlette", "uvicorn", "opentelemetry"}


def test_the_first_prompt_loads_what_it_needs(tmp_path: Path) -> None:
    """What draws answers, the HTTP client, MCP and telemetry come with the first use of them."""
    nobody = user(tmp_path, "http://127.0.0.1:9")
    code = (
        "import sys\nfrom turnout.surfaces.cli import main\n"
        "try: main(['chat', '--plain', '-m', 'openai:gpt-4o'])\nexcept SystemExit: pass\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=nobody.environment,
        cwd=nobody.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert LATER.isdisjoint(done.stdout.rpartition("LOADED")[2].split())


def test_help_teaches(tmp_path: Path) -> None:
    """The first page shows how to begin and what each command is for; every command has an example or two."""
    nobody = user(tmp_path)
    front = run(nobody, "--help").out
    for name in COMMANDS:
        assert f"\n  {name} " in front
        told = run(nobody, name, "--help").out
        assert "turnout" in told or name in ("demo",), name
        assert len(told.splitlines()) > 6
    assert "turnout -c" in front and "turnout demo" in front


def test_every_command_is_told_of() -> None:
    """Nothing is imported to tell of a command, so each has its line here."""
    assert {name for section in SECTIONS.values() for name in section} >= set(COMMANDS)


def test_models(somebody: User) -> None:
    """Words filter the list; JSON holds targets, models and prices."""
    out = run(somebody, "models", "claude").out

    assert "ready: anthropic:claude-sonnet-4-5" in out and "claude-opus-4-5" in out and "gpt-5" not in out
    told = json.loads(run(somebody, "models", "--json").out)
    assert told["models"]["claude-opus-4-5"]["price"] == {"input": 5, "output": 25}
    assert "openai:gpt-5.1" in told["targets"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(tmp_path: Path, shell: str) -> None:
    """Each shell gets its script."""
    ran = run(user(tmp_path), "completion", shell)

    assert ran.code == 0 and "_TURNOUT_COMPLETE" in ran.out


def test_the_shell_completes_commands(tmp_path: Path) -> None:
    """The beginning of a command is completed."""
    nobody = user(tmp_path, _TURNOUT_COMPLETE="bash_complete", COMP_WORDS="turnout pro", COMP_CWORD="1")

    done = subprocess.run(
        [sys.executable, "-c", "from turnout.surfaces.cli import main; main(prog_name='turnout')"],
        env=nobody.environment,
        capture_output=True,
        text=True,
    )
    assert "providers" in done.stdout


def test_plain_lines_without_a_terminal(somebody: User) -> None:
    """Piped input is a conversation too: no colour, questions take a line, /commands work."""
    lines = "read README.md\nrun `touch yes`\ny\nrun `touch no`\nn not that\n/status\n"
    ran = run(somebody, "chat", "-m", "anthropic:claude-sonnet-4-5", stdin=lines)

    assert ran.code == 0
    assert (somebody.folder / "yes").exists() and not (somebody.folder / "no").exists()
    assert "They say: not that" in ran.out and "context" in ran.out
    assert "\x1b" not in ran.out
