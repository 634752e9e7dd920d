"""What stands beside a result in a message of a tool: it belongs to that result, in the order it was said."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.telling import assistant, call, codes, outcomes, result, text, use, user

from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Media, Text

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def told(*parts: Any, ids: tuple[str, ...] = ("t1",)) -> History:
    """A model calls, and one message of the tool's role holds these parts."""
    calls = {"role": "assistant", "content": [use(id) for id in ids]}
    return ingest([user("go"), calls, {"role": "tool", "content": list(parts)}], "anthropic")


def content(history: History, at: int = 0) -> list[Any]:
    outcome = list(history.ledger)[at].outcome
    assert outcome is not None
    return [block.text if isinstance(block, Text) else type(block) for block in outcome.content]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([text("before"), result("t1", "42")], ["before", "42"]),
        ([text("one"), text("two"), result("t1", "42")], ["one", "two", "42"]),
        ([result("t1", "42"), text("after")], ["42", "after"]),
        ([text("before"), result("t1", "42"), text("after")], ["before", "42", "after"]),
        ([IMAGE, text("before"), result("t1", "42")], [Media, "before", "42"]),
    ],
)
def test_what_stands_beside_a_result_keeps_its_place(parts: list[Any], said: list[Any]) -> None:
    """Before it what was said before it, after it what was said after."""
    assert content(told(*parts)) == said


def test_text_between_two_results_belongs_to_the_first() -> None:
    """It comes after that one; what stands before any result belongs to the next."""
    parts = [text("a"), result("t1", "1"), text("b"), result("t2", "2"), text("c")]
    history = told(*parts, ids=("t1", "t2"))
    assert [content(history, 0), content(history, 1)] == [["a", "1", "b"], ["2", "c"]]


def test_text_without_any_result_is_a_result_without_an_id() -> None:
    """It goes to the call that waits."""
    history = ingest([user("go"), assistant(None, call("a")), {"role": "tool", "content": [text("42")]}])
    assert outcomes(history) == [("read", "complete", "42")] and "unnamed_result" in codes(history)
