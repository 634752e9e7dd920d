"""`turnout update` and what a shell completes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run, standing_in
from tests.surfaces.places import User, simulated

from turnout.surfaces.cli import main


def completed(user: User, shell: str, line: str) -> list[str]:
    """What the shell offers at the end of this line."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    words = line.split(" ")
    with standing_in(user, user.folder):
        done = found(main, {}, "turnout", "_TURNOUT_COMPLETE")
        items = done.get_completions(words[1:-1], words[-1])
        return [done.format_completion(item) for item in items]


def test_update_says_how_and_calls_nobody(tmp_path: Path) -> None:
    """The command fits the installation; no request is sent."""
    with simulated(tmp_path, ["never"]) as user:
        done = run(user, "update")
        assert done.code == 0 and ("pip install --upgrade" in done.out or "git pull" in done.out)
        assert not list(user.simulation.exchanges)  # type: ignore[union-attr]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_models_sessions_and_profiles(shell: str, tmp_path: Path) -> None:
    """After -m, -r and --profile; also where the subcommand is left out."""
    with simulated(tmp_path, lambda asked: "hello") as user:
        config = user.home / ".config/turnout"
        config.mkdir(parents=True)
        (config / "config.toml").write_text('[profiles.cheap]\nmodel = "openai:gpt-4o"\n')
        id = run(user, "-p", "hi", "-m", "gpt-4o", "--output-format", "json").result["session_id"]
        assert any("gpt-5.1" in item for item in completed(user, shell, "turnout run -m gpt-5"))
        assert any("openai/gpt-4o" in item for item in completed(user, shell, "turnout chat -m openai/gpt-4"))
        assert any(id in item for item in completed(user, shell, "turnout run -r s"))
        assert any("cheap" in item for item in completed(user, shell, "turnout run --profile ch"))
        (config / "config.toml").write_text("this is not toml [")
        assert completed(user, shell, "turnout run --profile ch") == []
