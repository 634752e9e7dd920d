"""Slash commands: how one is found and run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated

from turnout.surfaces.terminal.commands import command_names

OPENAI = ("chat", "--plain", "-m", "openai:gpt-4o")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, lambda asked: f"You said: {asked.user}") as user:
        yield user


def test_help_lists_every_command(somebody: User) -> None:
    """Also those of the user, and the keys."""
    folder = somebody.home / ".config/turnout/commands"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("---\ndescription: Read it\n---\nReview $1")

    shown = run(somebody, *OPENAI, stdin="/help\n").out

    assert all(f"/{name}" in shown for name, one in command_names() if one.help)
    assert "/review" in shown and "Read it" in shown and "!command" in shown
    assert "shift+tab" not in shown  # a plain conversation has no such key


def test_an_unknown_command_gets_the_nearest_name(somebody: User) -> None:
    """It is not sent to the model."""
    shown = run(somebody, *OPENAI, stdin="/modle\n/xyzzy\n").out

    assert "/modle is not a command. Did you mean /model" in shown
    assert "/xyzzy is not a command. /help lists them." in shown
    assert somebody.statuses == []


def test_a_command_of_the_user_is_sent_to_the_model(somebody: User) -> None:
    """With its placeholders filled."""
    folder = somebody.home / ".config/turnout/commands"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("Review $1")

    assert "You said: Review app.py" in run(somebody, *OPENAI, stdin="/review app.py\n").out


def test_an_error_of_a_command_does_not_end_the_conversation(somebody: User) -> None:
    """The message is shown, and the next line is read."""
    shown = run(somebody, *OPENAI, stdin="/theme pink\nhello\n").out

    assert "'pink' is not a theme; use one of" in shown and "You said: hello" in shown
