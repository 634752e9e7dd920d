"""The options that the commands share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated

from turnout.simulate.model import demo


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as made:
        yield made


def test_run_and_render_take_options(somebody: User) -> None:
    """`--option` is in every request of the run, and in the request that is rendered."""
    words = ("-m", "mistral:mistral-large-latest", "--option", "temperature=0.25", "--option", "seed=7")
    assert run(somebody, "run", "-p", "hi", "--no-store", *words).code == 0
    assert somebody.simulation is not None
    sent = json.loads(somebody.simulation.exchanges[-1].body)
    assert sent["temperature"] == 0.25 and sent["random_seed"] == 7
    talk = json.dumps([{"role": "user", "content": "hi"}])
    done = run(somebody, "render", "--to", "openai:gpt-4o", "--option", "top_p=0.5", stdin=talk)
    assert json.loads(done.out)["top_p"] == 0.5
    wrong = run(somebody, "run", "-p", "hi", "--option", "temprature=1")
    assert wrong.code == 2 and "temperature" in wrong.err
