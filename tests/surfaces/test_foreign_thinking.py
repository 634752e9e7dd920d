"""What other models thought is handed on as text where the user says so: for one run, or in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.oneshot import run
from tests.surfaces.places import user

from turnout import Text, Thinking, UserTurn
from turnout.simulate import ScriptedModel
from turnout.surfaces.cli.opening import Wanted, configuration, open_session

THOUGHT = "Oslo is the capital."


@pytest.mark.parametrize(
    ("file", "flag", "is_told"),
    [
        ("", None, False),
        ("", "as_text", True),
        ('foreign_thinking = "as_text"\n', None, True),
        ('foreign_thinking = "as_text"\n', "omit", False),
    ],
)
def test_foreign_thinking_is_a_setting_and_an_option(
    tmp_path: Path, file: str, flag: str | None, is_told: bool
) -> None:
    """It reaches the request; the option counts more than the file."""
    somebody = user(tmp_path, "http://127.0.0.1:9")
    settings = somebody.home / ".config/turnout/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(file)
    wanted = Wanted(model="openai:gpt-5.1", folder=str(somebody.folder), foreign_thinking=flag)
    model = ScriptedModel(["Yes."])
    session = open_session(wanted, configuration(wanted, somebody.environment), transport=model)
    session.history.append(UserTurn("one", (Text("Which one?"),)))
    session.history.reply("deepseek:deepseek-reasoner", [Thinking(THOUGHT), Text("Oslo.")])
    session.ask_sync("Sure?")

    assert (THOUGHT in model.seen[0].body.decode()) is is_told


def test_both_commands_have_the_option(tmp_path: Path) -> None:
    """And a word that it does not know is wrong use."""
    somebody = user(tmp_path, "http://127.0.0.1:9")
    assert "--foreign-thinking [omit|as_text]" in run(somebody, "run", "--help").out
    for command in ((), ("run", "-p", "go")):
        assert run(somebody, *command, "--foreign-thinking", "keep").code == 2
