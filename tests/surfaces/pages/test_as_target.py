"""A conversation as another provider reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.pages.shown import sample_history, shown

from turnout import render
from turnout.surfaces.pages.as_target import last_target, repairs_of

TARGETS = [
    "anthropic:claude-sonnet-4-5",
    "openai:gpt-5.1",
    "gemini:gemini-2.5-pro",
    "kimi:kimi-k2.5",
    "mistral:mistral-large-latest",
]


@pytest.mark.parametrize("target", TARGETS)
def test_the_page_has_the_verdict_and_the_repairs_of_the_report(tmp_path: Path, target: str) -> None:
    """`check` accepts what we render, and every repair of the report is on the page."""
    with shown(tmp_path) as made:
        made.store.add(sample_history())
        page = made.text(f"/sessions/sample/as/{target}")
        read = made.store.read("sample")
        report = render(read, target).report
        assert "accepts it, as far as its rules are known" in page
        assert f"<h2>{len(repairs_of(report, read.diagnostics))} repairs</h2>" in page
        for item in report.diagnostics:
            assert f"<code>{item.code}</code>" in page
        for item in report.calls:
            assert item.projected in page


def test_the_diff_is_against_who_answered_last(tmp_path: Path) -> None:
    """Without a choice it is the last model of the conversation; the same target has no diff."""
    with shown(tmp_path) as made:
        made.store.add(sample_history())
        assert str(last_target(made.store.read("sample"))) == "openai:gpt-5.1"
        assert "<h2>Against openai:gpt-5.1</h2>" in made.text("/sessions/sample/as/gemini:gemini-2.5-pro")
        assert "<h2>Against" not in made.text("/sessions/sample/as/openai:gpt-5.1")
