"""Token counts are estimated, and grow with what is sent."""

from __future__ import annotations

import turnout
from turnout.targets.count import text_tokens

TOOL = {"name": "look", "description": "Look around.", "parameters": {"type": "object"}}


def test_the_count_grows_with_text_results_and_tools() -> None:
    """Each adds about what it holds."""
    history = turnout.History()
    history.user("word " * 400)
    alone = turnout.count(history, "anthropic:claude-sonnet-4-5")
    with_tool = turnout.count(history, "anthropic:claude-sonnet-4-5", [TOOL])

    assert 400 <= alone <= 700
    assert alone < with_tool < alone + 60


def test_scripts_with_many_letters_take_more_tokens() -> None:
    """A Chinese character is nearly a token; a Latin letter a quarter of one."""
    assert text_tokens("字" * 30) > 2 * text_tokens("a" * 30)
    assert text_tokens("") == 0
