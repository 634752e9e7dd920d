"""The command itself: its help, its hints, and a start that loads only what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import user

from turnout.surfaces.cli import COMMANDS, SECTIONS

HEAVY = ("prompt_toolkit", "rich", "apsw", "httpx2", "starlette", "uvicorn", "markdown_it", "asyncio")


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


@pytest.mark.parametrize(
    ("word", "hint"),
    [("modles", "Did you mean models?"), ("quokka", "To send it as a prompt: turnout chat quokka")],
)
def test_an_unknown_command_gets_a_hint(tmp_path: Path, word: str, hint: str) -> None:
    """A near name is suggested; any other word gets the command that sends it as a prompt."""
    ran = run(user(tmp_path), word)

    assert ran.code == 2 and hint in ran.err
