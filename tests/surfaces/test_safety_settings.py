"""What keeps an agent in can be loosened by the user, in a file or for one run, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.places import User, user

from turnout.surfaces.cli.opening import Wanted, configuration, open_session


@pytest.fixture
def somebody(tmp_path: Path) -> User:
    return user(tmp_path, "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("file", "flag", "network", "taint"),
    [
        ("", None, False, True),
        ("", True, True, True),
        ("network = true\ntaint = false\n", None, True, False),
    ],
)
def test_network_and_taint_are_settings(
    somebody: User, file: str, flag: bool | None, network: bool, taint: bool
) -> None:
    """Unless somebody says otherwise: no network for commands, and a question before anything leaves."""
    settings = somebody.home / ".config/turnout/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(file)
    wanted = Wanted(model="openai:gpt-5.1", folder=str(somebody.folder), network=flag)
    session = open_session(wanted, configuration(wanted, somebody.environment))
    spawn = session.scheduler.spawn
    assert session.scheduler.policy.taint is taint
    assert not getattr(spawn, "confines", False) or getattr(spawn, "network", None) is network


def test_a_project_that_is_not_trusted_loosens_nothing(somebody: User) -> None:
    """Its file says so in vain."""
    theirs = somebody.folder / ".turnout/config.toml"
    theirs.parent.mkdir(parents=True, exist_ok=True)
    theirs.write_text('network = true\ntaint = false\napproval = "full"\n')
    found = configuration(Wanted(folder=str(somebody.folder)), somebody.environment).settings
    assert (found.network, found.taint, found.approval) == (False, True, "ask")
