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
