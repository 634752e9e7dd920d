"""The stage of the demo: steps that are played with real sessions, tools and a store."""

from __future__ import annotations

import asyncio
from pathlib import Path

from turnout.surfaces.cli.demo.stage import Stage
from turnout.surfaces.cli.demo.story import STORY


def played(stage: Stage, *events: str) -> None:
    for step in STORY:
        if step.event in events:
            asyncio.run(stage.play(step, lambda event: None))


def test_a_denied_call_has_the_reason_of_the_user(tmp_path: Path) -> None:
    """The command did not run, and the model can read why."""
    stage = Stage(tmp_path)
    played(stage, "deny")
    (item,) = stage.history.ledger
    assert item.outcome is not None and item.outcome.status == "denied"
    assert "seat belt" in item.outcome.text


def test_a_killed_process_leaves_a_history_that_the_next_one_resumes(tmp_path: Path) -> None:
    """The call in which it died is interrupted; the one beside it keeps its result."""
    stage = Stage(tmp_path)
    played(stage, "crash")
    outcomes = {item.call.name: item.outcome for item in stage.history.ledger}
    assert {name: outcome and outcome.status for name, outcome in outcomes.items()} == {
        "read_file": "complete",
        "crash_here": "interrupted",
    }


def test_a_naive_replay_is_refused_where_turnout_is_not(tmp_path: Path) -> None:
    """A cancelled call without a result breaks a rule when the messages are sent as they came."""
    stage = Stage(tmp_path)
    played(stage, "cancel")
    (row,) = stage.table_rows()
    assert row[:5] == ("mistral", "1", "1", "0", "0") and row[5].startswith("400 MIS-")
