"""`turnout models`: families, single models, prices and ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated

from turnout.simulate.model import demo


@pytest.fixture
def somebody(tmp_path: Path) -> User:
    with simulated(tmp_path, demo) as made:
        return made


def test_models(somebody: User) -> None:
    """Words filter the list; JSON holds targets, models and prices."""
    out = run(somebody, "models", "claude").out

    assert "ready: anthropic:claude-sonnet-5" in out and "claude-opus-4-5" in out and "gpt-5" not in out
    told = json.loads(run(somebody, "models", "--json").out)
    assert told["models"]["claude-opus-4-5"]["price"] == {"input": 5, "output": 25}
    assert "openai:gpt-5.2" in told["targets"]


def test_words_show_single_models_with_their_ends(somebody: User) -> None:
    """The catalogue's rows have a window, a price and the day on which the maker ends the model."""
    shown = run(somebody, "models", "anthropic:claude-sonnet-4-5").out.splitlines()
    (line,) = [each for each in shown if each.startswith("anthropic:claude-sonnet-4-5 ")]
    assert "3 / 15" in line and line.endswith("2026-11-30")
