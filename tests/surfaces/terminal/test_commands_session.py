"""Slash commands for the model, the session, undo and export, in a plain conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated

from turnout.store import open_store

OPENAI = ("chat", "--plain", "-m", "openai:gpt-4o")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, lambda asked: f"{asked.provider} heard {asked.user}") as user:
        yield user


def test_the_model_changes_in_the_middle_of_a_conversation(somebody: User) -> None:
    """From the next prompt on, another provider answers; the conversation is the same."""
    shown = run(somebody, *OPENAI, stdin="one\n/model mistral:mistral-large-latest\ntwo\n").out

    assert "openai heard one" in shown and "mistral heard two" in shown
    with open_store(somebody.environment) as store:
        (line,) = store.list()
        assert line.turns == 4


def test_a_fork_leaves_the_first_session_unchanged(somebody: User) -> None:
    """Prompts after /fork are in the copy only."""
    run(somebody, *OPENAI, stdin="one\n/fork\ntwo\n")

    with open_store(somebody.environment) as store:
        assert sorted(line.turns for line in store.list()) == [2, 4]


def test_clear_starts_a_new_session_and_resume_goes_back(somebody: User) -> None:
    """/resume takes the beginning of an id; the current session is refused."""
    shown = run(somebody, *OPENAI, stdin="one\n/clear\ntwo\n").out
    assert "Started session" in shown
    with open_store(somebody.environment) as store:
        latest, first = (line.id for line in store.list())

    shown = run(somebody, *OPENAI, "-r", latest, stdin=f"/resume {latest}\n/resume {first[:12]}\n").out

    assert f"{latest} is this session; choose another one" in shown
    assert f"Resumed {first}" in shown and "openai heard one" in shown


def test_undo_removes_the_last_prompt(somebody: User) -> None:
    """The prompt is put back; without one there is nothing to remove."""
    shown = run(somebody, *OPENAI, stdin="/undo\none\n/undo\n").out

    assert "there is no prompt to go back to" in shown
    assert "Removed." in shown and "not sent: one" in shown


def test_export_writes_a_new_file_in_a_known_format(somebody: User) -> None:
    """The name decides the format; an existing file is not overwritten."""
    shown = run(somebody, *OPENAI, stdin="one\n/export talk.md\n/export talk.md\n/export talk.doc\n").out

    assert "openai heard one" in (somebody.folder / "talk.md").read_text()
    assert len(re.findall("Written to", shown)) == 1
    assert ".doc is not an export format; use one of .md" in shown
