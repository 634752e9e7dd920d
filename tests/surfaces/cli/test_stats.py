"""`turnout stats`: usage over time."""

from __future__ import annotations

import json
from pathlib import Path

from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import simulated

from turnout.simulate import Call, Hosted, Reply, Say


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


def test_stats_say_who_answered_and_why(tmp_path: Path) -> None:
    """A table names for each model its replies, after what it took over, and why it gave way."""
    script = {"anthropic": [Reply((Say("No."),), stop="refused")], "openai": ["Fine."]}
    words = ("-m", "anthropic:claude-sonnet-5", "--fallback", "openai:gpt-5.2", "--fallback-on", "refusal")
    with simulated(tmp_path, script) as somebody:
        ran = run(somebody, "run", *words, "-p", "go")
        assert ran.code == 0 and ran.out.strip() == "Fine." and "refusal at anthropic" in ran.err
        shown = run(somebody, "stats").out
    assert "Who answered, and why" in shown
    (gave,) = [line for line in shown.splitlines() if line.startswith("anthropic:") and "refusal 1" in line]
    (took,) = [line for line in shown.splitlines() if line.startswith("openai:") and "refusal 1" in line]
    assert gave.split()[1] == took.split()[1] == "1"


def test_stats_count_the_tools_that_providers_ran(tmp_path: Path) -> None:
    """Which, how often, and what that cost where a price is known; a use without a price is counted too."""
    searched = [Hosted("web_search", {"query": "x"}, "found", "https://a.example"), Say("So.")]
    with simulated(tmp_path, [[*searched, *searched], searched]) as somebody:
        for target in ("anthropic:claude-sonnet-5", "openai-responses:gpt-5.2"):
            assert run(somebody, "run", "-m", target, "-p", "go").code == 0
        shown = run(somebody, "stats").out
    table = shown[shown.index("Tools that the provider ran") :].splitlines()

    (claude,) = [line for line in table if line.startswith("anthropic:")]
    (gpt,) = [line for line in table if line.startswith("openai-responses:")]
    assert "web_search 2" in claude and "$0.0200" in claude
    assert "web_search 1" in gpt and "$" not in gpt
