"""The smaller commands: models, completion, and chat without a terminal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user

from turnout.simulate.model import demo

LATER = {
    *("rich", "markdown_it", "pygments", "httpx2", "mcp", "starlette", "uvicorn", "opentelemetry"),
    *(
        "turnout.wire.check",
        "turnout.history.ingest",
        "urllib.request",
        "configparser",
        "tomllib",
        "tree_sitter",
    ),
}


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


def test_the_first_prompt_loads_what_it_needs(tmp_path: Path) -> None:
    """What draws answers, MCP, telemetry and the checkers come with the first use of them."""
    nobody = user(tmp_path, "http://127.0.0.1:9")
    loaded = modules_after(nobody, "chat", "--plain", "-m", "openai:gpt-4o")
    assert not LATER & loaded
    assert len(ours_of(loaded)) <= 328  # 323 when this was written


def test_one_prompt_loads_what_it_needs(somebody: User) -> None:
    """`turnout run -p` answers without the checkers, the readers of foreign lists, or a parser of TOML."""
    loaded = modules_after(somebody, "run", "-m", "openai:gpt-4o", "-p", "hello")
    assert not (LATER | {"prompt_toolkit"}) & loaded
    assert "turnout.world.transport" in loaded, "it did not ask the model"
    assert len(ours_of(loaded)) <= 333  # 328 when this was written


def ours_of(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name.startswith("turnout."))


def modules_after(someone: User, *arguments: str) -> set[str]:
    """The modules that a process has loaded when this command has ended."""
    code = (
        "import sys\nfrom turnout.surfaces.cli import main\n"
        f"try: main({list(arguments)!r})\nexcept SystemExit: pass\n"
        "print('LOADED', *sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=someone.environment,
        cwd=someone.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(tmp_path: Path, shell: str) -> None:
    """Each shell gets its script."""
    ran = run(user(tmp_path), "completion", shell)

    assert ran.code == 0 and "_TURNOUT_COMPLETE" in ran.out


def test_plain_lines_without_a_terminal(somebody: User) -> None:
    """Piped input is a conversation too: no colour, questions take a line, /commands work."""
    lines = "read README.md\nrun `touch yes`\ny\nrun `touch no`\nn not that\n/status\n"
    ran = run(somebody, "chat", "-m", "anthropic:claude-sonnet-4-5", stdin=lines)

    assert ran.code == 0
    assert (somebody.folder / "yes").exists() and not (somebody.folder / "no").exists()
    assert "They say: not that" in ran.out and "context" in ran.out
    assert "\x1b" not in ran.out
