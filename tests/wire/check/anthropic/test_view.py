"""Anthropic Messages: what a model takes is read from its name, however a host writes it."""

from __future__ import annotations

import pytest

from turnout.wire.check.anthropic.view import UNKNOWN, traits


@pytest.mark.parametrize(
    ("written", "same_as"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("claude-3-7-sonnet@20250219", "claude-3-7-sonnet-latest"),
        ("anthropic/claude-opus-4.8", "claude-opus-4-8"),
        ("us.anthropic.claude-opus-4-7-v1:0", "claude-opus-4-7"),
        ("claude-fable-5-1", "claude-fable-5-1-20260901"),
    ],
)
def test_a_model_is_known_however_it_is_written(written: str, same_as: str) -> None:
    """Dates, dots and vendors in the name do not matter."""
    assert traits(written) is traits(same_as) is not UNKNOWN


@pytest.mark.parametrize(
    "name", ["", "claude-sonnet-4-9", "claude-haiku-6", "gpt-5.6", "claude-opus-5-7-latest"]
)
def test_a_model_of_no_known_name_has_only_the_common_rules(name: str) -> None:
    """An unknown model accepts everything that some model accepts."""
    assert traits(name) is UNKNOWN
