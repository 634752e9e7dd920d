"""Names of servers' tools: what every provider takes, and never the same for two tools."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from turnout.tools.builtin import BUILTIN
from turnout.tools.mcp.offering import tool_name

WORDS = st.text(st.sampled_from("ab_-. é\u202e"), max_size=6) | st.text(max_size=90)


@given(WORDS, WORDS)
def test_a_name_is_one_that_every_provider_takes(server: str, tool: str) -> None:
    """Letters, digits, `_` and `-`, at most 64."""
    assert re.fullmatch(r"mcp__[A-Za-z0-9_-]{1,59}", tool_name(server, tool))


@given(st.tuples(WORDS, WORDS), st.tuples(WORDS, WORDS))
def test_two_tools_never_share_a_name(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Not when letters had to be replaced, and not when the parts could be read otherwise."""
    assert (tool_name(*one) == tool_name(*other)) == (one == other)


def test_names_that_read_alike_are_told_apart() -> None:
    """A hash at the end keeps them different."""
    pairs = [("a__b", "c"), ("a", "b__c"), ("a_", "b"), ("a", "_b"), ("a.b", "c"), ("a_b", "c"), ("a b", "c")]
    assert len({tool_name(*pair) for pair in pairs}) == len(pairs)


def test_a_plain_name_stays_readable() -> None:
    """Server and tool, joined by `__`."""
    assert tool_name("git", "git_status") == "mcp__git__git_status"


def test_no_server_can_take_the_name_of_a_built_in_tool() -> None:
    """The prefix keeps them apart."""
    taken = {tool.name for tool in BUILTIN}
    assert not taken & {tool_name(server, name) for name in taken for server in ("", "x", "mcp")}
