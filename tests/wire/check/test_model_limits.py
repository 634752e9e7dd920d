"""Options that a model cannot take."""

from __future__ import annotations

from turnout.wire.check import check

ASK = {"messages": [{"role": "user", "content": "hi"}]}


def rules_of(body: dict[str, object]) -> list[str]:
    return [problem.rule for problem in check("openai", {**ASK, **body})]


def test_a_temperature_has_a_range() -> None:
    """OPT-01: 0 to 2 at OpenAI."""
    assert rules_of({"model": "gpt-4o", "temperature": 2}) == []
    assert rules_of({"model": "gpt-4o", "temperature": 2.5}) == ["OPT-01"]
    assert rules_of({"model": "gpt-4o", "temperature": "hot"}) == ["OPT-01"]


def test_the_first_models_that_think_have_one_temperature() -> None:
    """OPT-02: only the default value is accepted; later models take others while they do not think."""
    assert rules_of({"model": "o3", "temperature": 0.5}) == ["OPT-02"]
    assert rules_of({"model": "o3", "temperature": 1}) == []
    assert rules_of({"model": "gpt-5.4-nano", "temperature": 0}) == []


def test_only_some_models_search() -> None:
    """OAC-17: the name of the model shows it."""
    options = {"web_search_options": {"search_context_size": "low"}}

    assert rules_of({"model": "gpt-4o", **options}) == ["OAC-17"]
    assert rules_of({"model": "gpt-4o-search-preview", **options}) == []
