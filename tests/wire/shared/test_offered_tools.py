"""Which tools a request declares."""

from __future__ import annotations

import pytest

from turnout.errors import UsageError
from turnout.ids import FORMATS, OPENAI_NAMES, IdProjection
from turnout.model import ToolSpec
from turnout.wire.options import Options
from turnout.wire.shared.offered_tools import Offer, are_same, offered_tools


def offer(*names: str, called: tuple[str, ...] = (), limit: int = 128, **options: object) -> Offer:
    ids = IdProjection(FORMATS["openai"], OPENAI_NAMES)
    tools = [ToolSpec(name) for name in names]
    return offered_tools(tools, called, Options.of(options), ids, [], limit=limit)


def names_in(found: Offer) -> list[str]:
    return [tool.name for tool in found.tools]


def test_a_tool_that_only_the_history_calls_gets_a_stub() -> None:
    """ANT-25: calls in the history need declared tools; stubs must not be called."""
    found = offer(called=("read",))

    assert names_in(found) == ["read"] and found.choice == "none"


def test_too_many_tools_are_left_out_in_a_fixed_order() -> None:
    """The forced one stays, then those that the history calls, then the first ones."""
    assert names_in(offer("a", "b", "c", "d", called=("c",), limit=2, tool_choice="d")) == ["c", "d"]


def test_a_name_given_twice_is_an_error() -> None:
    """The caller decides which one is meant."""
    with pytest.raises(UsageError, match="given twice"):
        offer("read", "read")


def test_a_choice_names_a_tool_of_the_request() -> None:
    """A misspelt name is an error, and so is a forced call without tools."""
    with pytest.raises(UsageError, match="not among the tools"):
        offer("read", tool_choice="raed")
    with pytest.raises(UsageError, match="needs tools"):
        offer(tool_choice="required")


def test_the_same_tools_are_the_same_objects() -> None:
    """Equal values may differ in JSON."""
    tool = ToolSpec("read")
    assert are_same([tool], [tool]) and not are_same([tool], [ToolSpec("read")])
