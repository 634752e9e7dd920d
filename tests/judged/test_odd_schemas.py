"""Tools whose parameters are no schema at all."""

from __future__ import annotations

from typing import Any

import pytest

import turnout


@pytest.mark.parametrize("parameters", [True, "object", 5, ["city"]])
def test_parameters_that_are_no_schema_are_named(parameters: Any) -> None:
    """The caller learns which tool, and what a schema is."""
    history = turnout.ingest([{"role": "user", "content": "hi"}])
    with pytest.raises(turnout.UsageError, match="the parameters of tool 'f'"):
        turnout.render(history, to="openai:gpt-5.1", tools=[{"name": "f", "parameters": parameters}])


@pytest.mark.parametrize("target", ["gemini:gemini-3-pro", "openai:gpt-5.1", "anthropic:claude-sonnet-4-5"])
def test_a_schema_nested_hundreds_deep_is_still_sent(target: str) -> None:
    """Depth is no reason to fail: where the subset cannot say it, the whole schema goes."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(400):
        schema = {"type": "object", "properties": {"inner": schema}}
    history = turnout.ingest([{"role": "user", "content": "hi"}])
    request = turnout.render(history, to=target, tools=[{"name": "f", "parameters": schema}])
    assert b'"inner"' in request.body
