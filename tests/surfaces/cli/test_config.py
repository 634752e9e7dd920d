"""`turnout config`: the settings in force, where each comes from, trust and granted rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, user

from turnout.world.trust import LARGEST


@pytest.fixture
def somebody(tmp_path: Path) -> User:
    (own := tmp_path / "home/.config/turnout").mkdir(parents=True)
    (own / "config.toml").write_text('model = "openai:gpt-4o"\n')
    return user(tmp_path, "http://127.0.0.1:9")


def project_file(somebody: User, text: str) -> Path:
    (path := somebody.folder / ".turnout/config.toml").parent.mkdir()
    path.write_text(text)
    return path


def test_each_setting_has_its_source(somebody: User) -> None:
    """The table and the JSON name the file that a setting comes from."""
    assert "openai:gpt-4o" in run(somebody, "config").out
    model = json.loads(run(somebody, "config", "--json").out)["settings"]["model"]
    assert model["value"] == "openai:gpt-4o" and model["from"].endswith("config.toml")


def test_a_project_file_counts_once_it_is_trusted(somebody: User) -> None:
    """Its text is shown before it is trusted; without a terminal that needs --yes."""
    path = project_file(somebody, "max_cost = 2.5\n")
    assert json.loads(run(somebody, "config", "--json").out)["untrusted"] == [str(path)]

    asked = run(somebody, "config", "--trust")
    assert asked.code == 2 and "add --yes" in asked.err and "max_cost = 2.5" in asked.out
    assert "Trusted 1 file;" in run(somebody, "config", "--trust", "--yes").out

    settings = json.loads(run(somebody, "config", "--json").out)["settings"]
    assert settings["max_cost"]["value"] == 2.5


def test_a_file_beyond_the_limit_cannot_be_trusted(somebody: User) -> None:
    """The message names the size and the limit."""
    project_file(somebody, "# " + "x" * LARGEST)
    told = run(somebody, "config", "--trust", "--yes")
    assert told.code == 2 and f"the limit is {LARGEST:,}; shorten it" in told.err


def test_a_rule_that_was_not_granted_cannot_be_revoked(somebody: User) -> None:
    """The message says what to check."""
    told = run(somebody, "config", "--revoke", "1")
    assert told.code == 2 and "no rule was granted in this folder" in told.err
