"""What keeps an agent in can be loosened by the user, in a file or for one run, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user
from tests.tools.safety.boxes import NOTE

from turnout.surfaces.shared.open_session import SessionArguments, configuration, open_session
from turnout.tools.confine.sandbox import Unconfined


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
    wanted = SessionArguments(model="openai:gpt-5.1", folder=str(somebody.folder), network=flag)
    session = open_session(wanted, configuration(wanted, somebody.environment))
    spawn = session.scheduler.spawn
    assert session.scheduler.policy.taint is taint
    assert not getattr(spawn, "confines", False) or getattr(spawn, "network", None) is network


def test_a_project_that_is_not_trusted_loosens_nothing(somebody: User) -> None:
    """Its file says so in vain."""
    theirs = somebody.folder / ".turnout/config.toml"
    theirs.parent.mkdir(parents=True, exist_ok=True)
    theirs.write_text('network = true\ntaint = false\napproval = "full"\n')
    found = configuration(SessionArguments(folder=str(somebody.folder)), somebody.environment).settings
    assert (found.network, found.taint, found.approval) == (False, True, "ask")


def test_where_there_is_no_sandbox_the_first_lines_say_so(
    somebody: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason, and with what follows from it; where there is one, nothing is said."""
    talk = ("-m", "openai:gpt-5.1", "--plain", "--no-store")
    monkeypatch.setattr(
        "turnout.session.workspace_setup.sandbox_for", lambda *_, **__: Unconfined("it is missing")
    )
    told = "commands are not in a sandbox (it is missing): "
    assert f"{told}every command asks" in run(somebody, *talk).out
    assert f"{told}they run without a question" in run(somebody, *talk, "--approval-mode", "full").out
    (tmp_path / "away").mkdir()
    with simulated(tmp_path / "away", lambda request: "hello") as other:
        ask = ("run", "-p", "hi", "-m", "openai:gpt-5.1")
        assert "not in a sandbox" not in run(other, *ask).err
        assert f"{told}they run without a question" in run(other, *ask, "--approval-mode", "full").err
        monkeypatch.undo()
        if not NOTE:
            assert "not in a sandbox" not in run(other, *ask, "--approval-mode", "full").err
            assert "not in a sandbox" not in run(somebody, *talk).out


def test_nothing_is_fetched_for_the_schema_of_an_answer(somebody: User) -> None:
    """A schema that refers to an address is refused before anything is asked or fetched."""
    told = run(somebody, "run", "-p", "hi", "--json-schema", '{"$ref": "http://127.0.0.1:9/x.json"}')
    assert told.code != 0
    assert "refers to 'http://127.0.0.1:9/x.json', which is not in it" in told.err
