"""What a tool gets of its call: progress, output, and what the session provides."""

from __future__ import annotations

import pytest

from turnout import ToolContext, UsageError
from turnout.tools.declare.events import ToolProgress


def test_progress_is_a_fraction_or_a_line() -> None:
    """Numbers are kept between 0 and 1, anything else is shown as text."""
    seen: list[ToolProgress] = []
    context = ToolContext("c1", report=seen.append)
    for step in (0.5, 7, "reading", {"left": 3}):
        context.progress(step)
    context.output("line\n")
    assert [event.fraction for event in seen[:2]] == [0.5, 1.0]
    assert [event.text for event in seen[2:4]] == ["reading", '{"left":3}']
    assert seen[4].output == "line\n" and {event.call_id for event in seen} == {"c1"}


def test_a_context_without_a_session_provides_what_it_is_given() -> None:
    """A test makes one and calls the tool; a missing value is named."""
    context = ToolContext(name="count", provides=["word", 7])
    assert context.provided_value(int) == 7 and context.provided_value(str) == "word"
    with pytest.raises(UsageError, match="tool count needs a bytes"):
        context.provided_value(bytes)
