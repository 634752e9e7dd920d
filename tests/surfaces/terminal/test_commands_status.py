"""Slash commands that show tools, rules, status and usage, in a plain conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated

from turnout.simulate.model import demo

OPENAI = ("chat", "--plain", "-m", "openai:gpt-4o")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


def test_tools_that_a_mode_refuses_are_marked(somebody: User) -> None:
    """In plan mode writing tools are listed as off."""
    shown = run(somebody, *OPENAI, stdin="/permissions plan\n/tools\n").out

    assert "The approval mode is plan." in shown
    assert "write, off in this mode: " in shown and "read: " in shown


def test_full_mode_needs_a_confirmation(somebody: User) -> None:
    """Any answer but yes keeps the mode."""
    assert "The approval mode is still ask." in run(somebody, *OPENAI, stdin="/permissions full\nno\n").out
    assert "The approval mode is full." in run(somebody, *OPENAI, stdin="/permissions full\nyes\n").out


def test_a_granted_rule_is_listed_and_revoked(somebody: User) -> None:
    """An answer for the session is a rule with a number."""
    lines = "run `touch a`\ns\n/permissions\n/permissions revoke 1\n/permissions revoke 7\n"
    shown = run(somebody, *OPENAI, stdin=lines).out

    assert "session rule: allow shell exactly" in shown and "Revoked: session rule" in shown
    assert "'7' is not the number of a rule" in shown


def test_status_and_stats_show_the_session(somebody: User) -> None:
    """The store, the model, and what was used."""
    shown = run(somebody, *OPENAI, "--no-store", stdin="read README.md\n/status\n/stats\n").out

    assert "not stored (--no-store)" in shown and "openai:gpt-4o" in shown
    assert "tokens in" in shown and "tool calls" in shown


def test_diagnose_judges_the_conversation_for_any_target(somebody: User) -> None:
    """A conversation with tool calls would be accepted elsewhere too."""
    shown = run(somebody, *OPENAI, stdin="read README.md\n/diagnose mistral:mistral-large-latest\n").out

    assert "mistral:mistral-large-latest would accept this conversation." in shown
    assert "id format" in shown
