"""`turnout stats`: usage over time."""

from __future__ import annotations

import json
from pathlib import Path

from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import simulated

from turnout.simulate import Call


def test_stats_count_over_time(tmp_path: Path) -> None:
    """Cost, tokens and the tool counters, by day and by model; kept from one process to the next."""
    bad = [[Call("read_file", {"wrong": 1})], [Call("read_file", {"path": "app.py"})], "Done."]
    with simulated(tmp_path, bad * 2) as somebody:
        for _ in range(2):
            assert run(somebody, "run", "-m", "openai:gpt-4o", "-p", "go").code == 0
        told = json.loads(run(somebody, "stats", "--json").out)
        shown = run(somebody, "stats").out
        assert run(somebody, "stats", "--provider", "kimi").out.startswith("Nothing was counted")

    counts = {line["name"]: line["count"] for line in told}
    assert counts["replies"] == 6 and counts["tool_calls_total"] == 4
    assert counts["tool_calls_invalid_args"] == 2 and counts["cost_microdollars"] > 0
    assert "Cost by day" in shown and "█" in shown and "with bad arguments" in shown
