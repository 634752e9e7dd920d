"""What a provider wrote for itself goes back to it whole, or not at all: damage never reaches it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.handoff.judges import complaints
from tests.laws.natives import NATIVES, WRONG, damaged, places
from tests.laws.share import SOAK

from turnout import ingest
from turnout.targets.request import render
from turnout.targets.target import find_target as target
from turnout.wire.check import check

CLAUDE = "anthropic:claude-sonnet-4-5"
MESSAGES = NATIVES[CLAUDE][1]["messages"]
EXAMPLES = 1500 if SOAK else 150
TARGETS = sorted(NATIVES)


@pytest.mark.parametrize("to", TARGETS)
def test_what_is_whole_goes_back_as_it_was(to: str) -> None:
    """Every block that only this provider understands is in the request, and nothing had to be changed."""
    form, body = NATIVES[to]
    request = render(ingest(body, form, to), to, tools=[{"name": "f"}])

    assert complaints(request, target(to)) == []
    assert request.changes == ()


@pytest.mark.parametrize("to", TARGETS)
def test_no_damage_reaches_the_provider(to: str) -> None:
    """Whatever was cut out of a block or written into it: whoever judges requests takes what is sent."""
    form, body = NATIVES[to]

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(places(body)), st.sampled_from((..., *WRONG))), max_size=2))
    def holds(damage: list[Any]) -> None:
        spoilt = body
        for path, value in damage:
            if path[-1] == "type" and value == "x":
                continue  # a kind that nobody knows goes back to whom it came from
            try:
                spoilt = damaged(spoilt, path, value)
            except (KeyError, IndexError, TypeError):  # the first damage took the place of the second
                continue
        request = render(ingest(spoilt, form, to), to)
        assert complaints(request, target(to)) == []

    holds()


@pytest.mark.parametrize("to", TARGETS)
def test_no_place_of_damage_reaches_the_provider(to: str) -> None:
    """Every key is cut out once, and gets a value of another kind once."""
    form, body = NATIVES[to]
    for path in places(body):
        for value in (..., ["text"], "not base64!", {"a": 1}, None):
            request = render(ingest(damaged(body, path, value), form, to), to)
            assert complaints(request, target(to)) == [], (path, value)


REQUIRED = {
    "anthropic": {
        "document": ("source",),
        "image": ("source",),
        "search_result": ("source", "title", "content"),
        "container_upload": ("file_id",),
        "thinking": ("thinking", "signature"),
        "redacted_thinking": ("data",),
        "server_tool_use": ("id", "name", "input"),
        "web_search_tool_result": ("tool_use_id", "content"),
        "web_fetch_tool_result": ("tool_use_id", "content"),
        "code_execution_tool_result": ("tool_use_id", "content"),
        "bash_code_execution_tool_result": ("tool_use_id", "content"),
        "text_editor_code_execution_tool_result": ("tool_use_id", "content"),
        "tool_search_tool_result": ("tool_use_id", "content"),
    },
    "openai-responses": {"reasoning": ("encrypted_content",)},
}
"""The fields without which a block is refused, by format and type."""


@pytest.mark.parametrize("to", [to for to in TARGETS if NATIVES[to][0] in REQUIRED])
@pytest.mark.parametrize("value", [..., None, 0, ["text"], [None]], ids=repr)
def test_the_checker_names_every_damaged_block(to: str, value: Any) -> None:
    """A block that lacks what it must hold, or holds a value of another kind, is a problem at its place."""
    form, body = NATIVES[to]
    body = {**body, "store": False} if form == "openai-responses" else body
    assert check(to, body) == []
    for path in places(body):
        block = _holder(body, path)
        is_block = isinstance(block, dict) and len(path) < 6  # not one inside of another
        required = REQUIRED[form].get(block.get("type"), ()) if is_block else ()
        if path[-1] in required and not (path[-1] == "content" and isinstance(value, list)):
            problems = check(to, damaged(body, path, value))
            assert problems, (path, value)
            assert any(str(path[1]) in problem.path for problem in problems)


def _holder(body: Any, path: tuple[Any, ...]) -> Any:
    for step in path[:-1]:
        body = body[step]
    return body


BLOCKS = [(at, place) for at, message in enumerate(MESSAGES) for place in range(len(message["content"]))]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(BLOCKS), st.sampled_from(BLOCKS), st.booleans()), max_size=4))
def test_blocks_that_were_moved_or_repeated_do_not_reach_anthropic(moves: list[Any]) -> None:
    """A use without its result, a result before its use, one of either twice, or the user's: all left out."""
    body = deepcopy(NATIVES[CLAUDE][1])
    messages = body["messages"]
    for (source, place), (goal, at), repeats in moves:
        block = messages[source]["content"][place % len(messages[source]["content"])]
        if not repeats and len(messages[source]["content"]) > 1:
            messages[source]["content"].remove(block)
        messages[goal]["content"].insert(at, block)

    request = render(ingest(body, "anthropic", CLAUDE), CLAUDE)
    assert complaints(request, target(CLAUDE)) == []
