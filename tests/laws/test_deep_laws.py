"""However deep a value is nested: it is taken in, stored and sent, and nothing of it is lost on the way.

The laws are tried on a stack that is deep already, as it is in a session under an event loop:
Python's limit counts the frames of the caller and the levels of the value together.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.build import conversation, model, settled, user
from tests.laws.share import SOAK
from tests.laws.targets import TARGETS

from turnout import History, Outcome, Residue, Text, ToolCall, ingest
from turnout.history.check import violations
from turnout.history.codec import dump_history, load_history
from turnout.plain import MAX_DEPTH, dumps, is_deeper, plain
from turnout.targets.request import render
from turnout.targets.target import Target
from turnout.wire.check import check

T = TypeVar("T")
EXAMPLES = 300 if SOAK else 30
DEPTHS = st.integers(1, 70) | st.sampled_from([49, 50, 51, 60, 127, 128, 129, 200, 500, 800])
SHAPES = st.lists(st.sampled_from("{["), min_size=1, max_size=3)
FRAMES = st.sampled_from([0, 150, 400])
MARK = "mark-4711"


def nested(depth: int, shape: list[str], inside: Any = MARK) -> Any:
    """A value of this many levels, objects and lists in turn; the outermost is an object."""
    for level in range(depth - 1):
        inside = {"k": inside} if shape[level % len(shape)] == "{" else [inside]
    return {"k": inside}


def beneath(frames: int, work: Callable[[], T]) -> T:
    """What `work` gives on a stack that is this much deeper."""
    return work() if frames == 0 else beneath(frames - 1, work)


def accepted(history: History, place: Target) -> str:
    """The body of a request that the provider takes, as text."""
    request = render(history, place)
    assert check(place.provider.name, request.body, model=place.model) == []
    return request.body.decode()


def stored(history: History) -> History:
    assert violations(history) == []
    again = load_history(dump_history(history))
    assert again.ledger == history.ledger
    return again


@settings(max_examples=EXAMPLES, deadline=None)
@given(DEPTHS, SHAPES, FRAMES, st.sampled_from(TARGETS))
def test_deep_arguments_are_stored_and_sent_whole(
    depth: int, shape: list[str], frames: int, place: Target
) -> None:
    """As an object where they may be one; else as text, which the report or the history names."""
    value = nested(depth, shape)
    by_text = ingest(
        [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": text_of(value)}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "done"},
        ]
    )
    by_value = conversation(user("go"), model(ToolCall("a", "f", value)), settled("a"))
    for history in (by_text, by_value):
        assert MARK in beneath(frames, lambda history=history: accepted(stored(history), place))  # type: ignore[misc]
    assert [item.code for item in by_text.diagnostics] == (["invalid_arguments"] if depth > MAX_DEPTH else [])


@settings(max_examples=EXAMPLES, deadline=None)
@given(DEPTHS | st.sampled_from([1_500, 20_000]), SHAPES, FRAMES, st.sampled_from(TARGETS), st.booleans())
def test_deep_results_are_stored_and_sent_whole(
    depth: int, shape: list[str], frames: int, place: Target, whole: bool
) -> None:
    """Whatever a tool printed, JSON or half of it, every provider gets all of it."""
    text = text_of(nested(depth, shape)) if whole else "[" * depth + MARK
    history = conversation(user("go"), model(ToolCall("a", "f")), settled("a", Outcome("complete", text)))

    assert MARK in beneath(frames, lambda: accepted(stored(history), place))


@settings(max_examples=EXAMPLES, deadline=None)
@given(DEPTHS, SHAPES, FRAMES, st.sampled_from(TARGETS))
def test_deep_private_state_is_stored_and_sent(
    depth: int, shape: list[str], frames: int, place: Target
) -> None:
    """What a server sent with its reply may be as deep as it likes: the session goes on."""
    residue = Residue(place.origin, nested(depth, shape))
    history = conversation(user("go"))
    history.reply(place.origin, [Text("so", residue), ToolCall("a", "f", residue=residue)], residue=residue)

    assert '"so"' in beneath(frames, lambda: accepted(stored(history), place))


@settings(max_examples=EXAMPLES, deadline=None)
@given(DEPTHS, SHAPES, FRAMES)
def test_a_plain_value_is_never_deeper_than_the_limit(depth: int, shape: list[str], frames: int) -> None:
    """What lies deeper is there as text; a value within the limit is as it was."""
    value = nested(depth, shape)
    copy = beneath(frames if depth < 500 else 0, lambda: plain(value))

    assert not is_deeper(copy, MAX_DEPTH)
    assert (copy == value) == (depth <= MAX_DEPTH)
    assert MARK in dumps(copy)


@pytest.mark.parametrize("place", [place for place in TARGETS if place.api == "gemini"])
@pytest.mark.parametrize("depth", [49, 50, 60, 128, 500])
def test_gemini_gets_deep_arguments_under_a_name(place: Target, depth: int) -> None:
    """Arguments must be an object there; from 50 levels on it holds their text, and the report says so."""
    value = nested(depth, ["{"])
    history = conversation(user("go"), model(ToolCall("a", "f", value)), settled("a"))
    request = render(history, place)
    body = request.json.get("request", request.json)
    (call,) = [part["functionCall"] for part in body["contents"][1]["parts"]]

    if depth < 50:
        assert call["args"] == value
    else:
        assert list(call["args"]) == ["json"] and json.loads(call["args"]["json"])
        assert any("sent as text under 'json'" in line for line in request.report.changes)


def text_of(value: Any) -> str:
    """JSON text of a value of any depth, written without a stack."""
    opening, closing = "", ""
    while isinstance(value, dict | list):
        is_object = isinstance(value, dict)
        opening += '{"k":' if is_object else "["
        closing = ("}" if is_object else "]") + closing
        value = value["k"] if is_object else value[0]
    return f'{opening}"{value}"{closing}'


@pytest.mark.parametrize("depth", [49, 50, 100, 150, 1_000, 20_000])
def test_what_goes_to_gemini_as_text_for_its_depth_is_named(depth: int) -> None:
    """From 50 levels on, however deep, `changes` names the arguments and the result."""
    deep = '{"a":' * depth + "1" + "}" * depth
    history = ingest(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": deep}}]},
            {"role": "tool", "tool_call_id": "a", "content": deep},
        ]
    )
    request = render(history, to="gemini:gemini-2.5-pro")
    named = [change for change in request.report.changes if "nested too deeply" in change]

    assert len(named) == (2 if depth >= 50 else 1)  # a result stands one level further down
    assert check("gemini", request.json) == []
