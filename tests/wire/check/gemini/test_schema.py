"""What Gemini refuses in declarations of functions."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.wire.check import check


def rules_of(declaration: dict[str, Any]) -> list[str]:
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    tools = [{"functionDeclarations": [{"name": "read", **declaration}]}]
    return [problem.rule for problem in check("gemini", {"contents": contents, "tools": tools})]


def parameters(**path: Any) -> dict[str, Any]:
    return {"parameters": {"type": "object", "properties": {"path": path}}}


def test_a_plain_schema_passes() -> None:
    """The subset has types, properties and descriptions."""
    assert rules_of(parameters(type="string", description="which file")) == []


@pytest.mark.parametrize("keyword", ["$schema", "const", "oneOf", "multipleOf"])
def test_a_keyword_outside_the_subset_is_refused(keyword: str) -> None:
    """GEM-12: `parametersJsonSchema` accepts it."""
    assert rules_of(parameters(type="string", **{keyword: "x"})) == ["GEM-12"]
    schema = {"type": "object", "properties": {"path": {"type": "string", keyword: "x"}}}
    assert rules_of({"parametersJsonSchema": schema}) == []


def test_an_enum_is_of_strings_and_an_array_has_items() -> None:
    """GEM-13: other values are refused."""
    assert rules_of(parameters(type="integer", enum=[1])) == ["GEM-13"]
    assert rules_of(parameters(type="array")) == ["GEM-13"]


def test_names_match_the_pattern() -> None:
    """GEM-14: of functions and of parameters."""
    assert rules_of({"name": "read file"}) == ["GEM-14"]
