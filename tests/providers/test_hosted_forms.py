"""The tools that each provider runs, as data."""

from __future__ import annotations

import pytest

from turnout.hosted_tools import KINDS, HostedForm
from turnout.providers import PROVIDERS, hosted_forms
from turnout.targets.target import find_target

TABLES = {name: table for name, table in vars(hosted_forms).items() if name.isupper() and table}
FORMS = [
    (name, form)
    for name, table in TABLES.items()
    if isinstance(table, tuple)
    for form in table
    if isinstance(form, HostedForm)
]


@pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{name}-{form.type}" for name, form in FORMS])
def test_a_form_speaks_of_options_that_its_kind_has(name: str, form: HostedForm) -> None:
    """A misspelt option would never be sent."""
    assert form.kind in KINDS
    named = {*form.options, *form.entry_options, *form.request_options}
    assert named <= set(KINDS[form.kind])


@pytest.mark.parametrize(
    ("target", "kind", "type"),
    [
        ("anthropic:claude-opus-4-1", "code_execution", "code_execution_20250825"),
        ("anthropic:claude-sonnet-4-6", "code_execution", "code_execution_20260120"),
        ("anthropic:claude-3-opus-20240229", "web_search", ""),
        ("openai-responses:gpt-4.1-nano", "web_search", ""),
        ("openai-responses:gpt-4.1", "web_search", "web_search"),
        ("gemini:gemini-1.5-pro", "web_search", ""),
        ("groq:llama-3.3-70b-versatile", "web_search", ""),
    ],
)
def test_the_version_of_a_tool_depends_on_the_model(target: str, kind: str, type: str) -> None:
    """The first form that the model has is used; a model without one has the tool not at all."""
    place = find_target(target)
    serving = [form for form in place.dialect.hosted if form.kind == kind and form.serves(place.model)]
    assert (serving[0].type if serving else "") == type


def test_every_kind_is_had_by_someone() -> None:
    """A kind that no provider has could only be dropped."""
    had = {form.kind for provider in PROVIDERS.values() for form in provider.dialect.hosted}
    assert had == set(KINDS)
