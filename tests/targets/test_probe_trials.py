"""What the probe tries, as data."""

from __future__ import annotations

import pytest

from turnout import ingest, render
from turnout.targets.family import can_force_tools
from turnout.targets.probe import HOMES
from turnout.targets.probe_trials import HELLO, ROUND_TRIP, TRIALS, Trial
from turnout.targets.target import find_target

ALL = (HELLO, ROUND_TRIP, *TRIALS)
DIALECTS = [find_target(f"{name}:house-7b").dialect for name in HOMES.values()]


@pytest.mark.parametrize("trial", ALL, ids=lambda trial: trial.name)
def test_every_change_is_one_of_a_dialect(trial: Trial) -> None:
    """A field that no dialect has would never be tried."""
    for changes in (*trial.fixes, trial.otherwise):
        for field in changes:
            assert any(field in dialect.__struct_fields__ for dialect in DIALECTS), field


@pytest.mark.parametrize("home", HOMES.values())
def test_every_trial_is_a_small_request_in_every_protocol(home: str) -> None:
    """Sixty of them cost little. What a protocol cannot say of an unknown model is not sent."""
    place = find_target(f"{home}:house-7b")
    for trial in ALL:
        history = ingest(list(trial.messages), "openai-chat", key="probe")
        forced = trial.options.get("tool_choice") not in (None, "auto", "none")
        if forced and not can_force_tools(place):
            continue
        made = render(history, place, tools=list(trial.tools), **trial.options)
        assert len(made.body) < 2_500, trial.name


def test_no_two_trials_have_one_name() -> None:
    """The report names a trial by its name."""
    assert len({trial.name for trial in ALL}) == len(ALL)
