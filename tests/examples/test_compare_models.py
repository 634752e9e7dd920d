"""The example that compares models: typed answers of two, kept in a file, asked once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from examples import compare_models
from turnout.simulate import SimulatedRequest
from turnout.testing import HttpError, ScriptedModel


def answer(asked: SimulatedRequest) -> object:
    if "impossible" in asked.user:
        return HttpError("content_filter")
    return (
        '{"answer": "Peru", "sure": 90}' if asked.provider == "openai" else '{"answer": "Chile", "sure": 10}'
    )


def test_the_answers_of_two_models_stand_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A question that one refuses is told on stderr; the second run asks only that one again."""
    questions, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text('"Where is Lima?"\n"Do the impossible."\n')
    monkeypatch.setattr(sys, "argv", ["compare_models.py", str(questions), str(answers)])
    with ScriptedModel(answer) as model:
        compare_models.main()
        shown = capsys.readouterr()
        first = len(model.requests)
        compare_models.main()
    assert shown.out.splitlines() == [
        "Where is Lima?",
        "  anthropic:claude-sonnet-5: Chile (10 %)",
        "  openai:gpt-5.2: Peru (90 %)",
    ]
    assert "Do the impossible.: openai:gpt-5.2 did not answer" in shown.err
    assert first == 4 and len(model.requests) == 6 and len(answers.read_text().splitlines()) == 4
