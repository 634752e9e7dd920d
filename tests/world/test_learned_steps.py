"""What was learned from refusals: a file in the form of the configuration, whose tables expire."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from turnout.world.config import load_config
from turnout.world.learned_steps import DAYS, LearnedSteps

TARGET = "openai:gpt-5.1"
DAY = 86_400.0


class Days:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 20_000 * DAY

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def days() -> Days:
    return Days()


def test_a_step_expires_and_is_learned_again(tmp_path: Path, days: Days) -> None:
    """After a month the target is asked for everything again; a new refusal starts a new month."""
    learned = LearnedSteps(tmp_path / "learned.toml", clock=days)
    learned.keep(TARGET, "drop reasoning", "no")
    days.now += (DAYS - 1) * DAY
    assert learned.steps_for(TARGET) == ("drop reasoning",)
    days.now += DAY
    assert learned.steps_for(TARGET) == () and learned.all_steps() == []
    learned.keep(TARGET, "drop reasoning", "no")
    assert learned.steps_for(TARGET) == ("drop reasoning",)


def test_the_file_has_the_form_of_a_configured_target(tmp_path: Path, days: Days) -> None:
    """A table that is moved to config.toml is valid there, counts for its target, and does not expire."""
    file = tmp_path / "learned.toml"
    learned = LearnedSteps(file, clock=days)
    learned.keep(TARGET, "drop reasoning", 'it said "no"')
    learned.keep(TARGET, "drop options", "no")
    ((name, table),) = tomllib.loads(file.read_text())["targets"].items()
    home = tmp_path / "home"
    (home / ".config" / "turnout").mkdir(parents=True)
    (home / ".config" / "turnout" / "config.toml").write_text(file.read_text())
    config = load_config({"HOME": str(home)}, tmp_path)

    assert table["target"] == TARGET and table["without"] == ["reasoning", "options"]
    assert config.settings.targets[name].target == TARGET
    asked = str(config.target(name).origin)
    assert config.learned_steps.steps_for(asked) == ("drop reasoning", "drop options")
    assert config.learned_steps.steps_for(TARGET) == ()


def test_reasons_with_any_characters_are_read_back(tmp_path: Path, days: Days) -> None:
    """A provider's words may hold quotes, breaks and characters that TOML writes otherwise."""
    learned = LearnedSteps(tmp_path / "learned.toml", clock=days)
    why = 'a "quote", a \\ slash, a\nbreak, \x7f, \u2028, [targets.x] and 🙂'
    learned.keep(TARGET, "drop reasoning", why)
    learned.keep("openrouter@work:a/b", "drop options", "")

    assert [(kept.target, kept.why) for kept in learned.all_steps()] == [
        (TARGET, why),
        ("openrouter@work:a/b", ""),
    ]


@pytest.mark.parametrize(
    "text", ["", "{", "targets = 3", "[targets.x]\ntarget = 3", "[targets]\nx = 1", "\udcff"]
)
def test_a_file_that_cannot_be_read_counts_as_empty(tmp_path: Path, days: Days, text: str) -> None:
    """A damaged file of the user never stops a session, and is replaced with the next step."""
    file = tmp_path / "learned.toml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    learned = LearnedSteps(file, clock=days)
    assert learned.all_steps() == [] and learned.forget(TARGET) == 0
    learned.keep(TARGET, "drop options", "no")
    assert learned.steps_for(TARGET) == ("drop options",)
