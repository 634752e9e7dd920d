"""The view of unfinished arguments: true as far as it goes, and cheap however often it is asked."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout.streaming.events import ToolCallComplete, ToolCallDelta, ToolCallStart
from turnout.streaming.partial import PartialArguments, PartialCalls

texts = st.text(st.sampled_from('ab"\\/{}[],: \n\té\u2028😀'), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-500, 500) | st.floats(-1, 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)


def view(*pieces: str) -> dict[str, Any]:
    partial = PartialArguments()
    for piece in pieces:
        partial.feed(piece)
    return partial.view()


def grows_into(part: Any, whole: Any) -> bool:
    """Whether `part` may be a stage on the way to `whole`."""
    match part, whole:
        case dict(), dict():
            return list(part) == list(whole)[: len(part)] and all(grows_into(part[k], whole[k]) for k in part)
        case list(), list():
            return len(part) <= len(whole) and all(map(grows_into, part, whole))
        case str(), str():
            return whole.startswith(part)
    return bool(part == whole)


@settings(deadline=None)
@given(objects, st.sampled_from([None, 1]), st.booleans())
def test_every_stage_is_on_the_way_to_the_whole(
    whole: dict[str, Any], indent: int | None, escaped: bool
) -> None:
    """At each character the view is a part of the arguments; at the end it is all of them."""
    text = json.dumps(whole, indent=indent, ensure_ascii=escaped)
    partial = PartialArguments()
    for at, character in enumerate(text):
        partial.feed(character)
        assert grows_into(partial.view(), whole), text[: at + 1]
        assert partial.view() == view(text[: at + 1]), text[: at + 1]

    assert partial.view() == whole
    assert not partial.stopped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("{", {}),
        ('{"pa', {}),
        ('{"path"', {}),
        ('{"path": ', {}),
        ('{"path": "', {"path": ""}),
        ('{"path": "src/m', {"path": "src/m"}),
        ('{"path": "a\\', {"path": "a"}),
        ('{"path": "a\\u00', {"path": "a"}),
        ('{"path": "a\\ud83d', {"path": "a"}),
        ('{"path": "a\\ud83d\\ude00', {"path": "a😀"}),
        ('{"path": "a\\ud83d"', {"path": "a\ufffd"}),
        ('{"path": "a\\uD83D', {"path": "a"}),
        ('{"path": "a\\\\ud83d', {"path": "a\\ud83d"}),
        ('{"n": 12', {}),
        ('{"n": 12,', {"n": 12}),
        ('{"n": tru', {}),
        ('{"list": [1, {"a": "b', {"list": [1, {"a": "b"}]}),
        ("null", {}),
        ("[1, 2]", {}),
        ('"{\\"a\\": 1}"', {}),
    ],
)
def test_what_is_shown_of_unfinished_arguments(text: str, expected: dict[str, Any]) -> None:
    """Strings grow, numbers and words wait for their end, keys for their value."""
    assert view(text) == expected


@pytest.mark.parametrize(
    "text",
    ['{"a": 1} x', '{"a": 1}}', '{"a" 1}', '{"a": 1]', '{"a": [1}', '{"a": nope, ', '{"a": "\\qqqqqqqqqqqqq'],
)
def test_text_that_is_no_json_stops_the_view(text: str) -> None:
    """What was readable stays; nothing is guessed after it."""
    partial = PartialArguments()
    partial.feed(text)
    before = partial.view()

    assert partial.stopped
    partial.feed('"b": 2}')
    assert partial.view() == before
    assert set(before) <= {"a"}


@given(st.text(st.sampled_from('{}[]",:\\u0dn 8t'), max_size=40), st.integers(0, 40))
def test_no_text_is_too_odd_to_look_at(text: str, at: int) -> None:
    """Any text gives some object, and its cut makes no difference."""
    assert view(text[:at], text[at:]) == view(text)


def test_the_view_is_bounded() -> None:
    """Very long, very deep and endless numbers stop it."""
    for text in ('{"a": "' + "x" * 100, '{"a": ' + "[" * 100, '{"a": ' + "1" * 100):
        partial = PartialArguments(limit=len(text) - (text[-1] == "x"))
        partial.feed(text)
        assert partial.stopped
        partial.view()


def test_a_long_string_is_shown_in_steps() -> None:
    """Far into a long string the view lags by at most a sixteenth, and catches up at its end."""
    partial = PartialArguments()
    partial.feed('{"text": "')
    for size in range(1, 100_000):
        partial.feed("x")
        assert len(partial.view()["text"]) >= size - size // 16 - 1
    partial.feed('"')

    assert partial.view() == {"text": "x" * 99_999}


def test_looking_at_every_delta_costs_the_length_of_the_arguments() -> None:
    """Ten times the arguments, asked at every delta, take about ten times as long."""

    def seconds(size: int) -> float:
        partial = PartialArguments()
        start = time.process_time()
        partial.feed('{"items": [{"text": "')
        for _ in range(size // 20):
            partial.feed("xxxxxxxxxx\\nxxxxxxxx")
            partial.view()
        return time.process_time() - start

    assert min(seconds(600_000) for _ in range(2)) < 40 * min(seconds(60_000) for _ in range(3)) + 0.05


def test_calls_are_viewed_by_their_id() -> None:
    """The events of a reply feed one view for each call."""
    calls = PartialCalls()
    for event in (
        ToolCallStart("1", "read"),
        ToolCallStart("2", "write"),
        ToolCallDelta("2", '{"path": "b'),
        ToolCallDelta("1", '{"path": "a"}'),
        ToolCallDelta("3", "{}"),
        ToolCallComplete("1"),
    ):
        calls.feed(event)

    assert calls.view("1") == {"path": "a"}
    assert calls.view("2") == {"path": "b"}
    assert calls.view("3") == {}
