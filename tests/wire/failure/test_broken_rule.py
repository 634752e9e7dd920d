"""The rule that a refusal names."""

from __future__ import annotations

import pytest

from turnout.wire.failure.broken_rule import RULES, broken_rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: x", "ANT-01"),
        ("Messages with role ‘tool’ must be a response to a preceding message", "OAC-02"),
        ("Function call is missing a thought_signature in functionCall parts.", "GEM-07"),
        ("the weather is fine", ""),
    ],
)
def test_a_refusal_names_its_rule(text: str, rule: str) -> None:
    """Case and kinds of quotes do not matter."""
    assert broken_rule(text) == rule


def test_every_row_finds_itself() -> None:
    """No row is hidden by a wider one before it."""
    hidden = [(rule, parts) for rule, parts in RULES if broken_rule(" … ".join(parts)) != rule]
    assert hidden == []
