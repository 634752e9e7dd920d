"""Blocks of a reply are written one after the other, whatever order their events come in."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.wire.reencoding import PROTOCOLS, read_back, streamed

from turnout import (
    Done,
    TextDelta,
    TextEnd,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from turnout.model import Origin, Residue
from turnout.streaming.events import StreamEvent
from turnout.wire.shared.reply_blocks import json_bytes, json_text, turn_of_events

OVERLAPPING: list[StreamEvent] = [
    ToolCallStart("a", "look"),
    ToolCallStart("b", "read"),
    ToolCallDelta("b", '{"y":'),
    ToolCallDelta("a", '{"x":1}'),
    ToolCallDelta("b", "2}"),
    ToolCallComplete("b"),
    ToolCallComplete("a"),
    Done("tool_calls"),
]


def test_calls_that_grow_at_once_come_out_in_order() -> None:
    """The second waits for the first, and loses nothing."""
    for protocol in PROTOCOLS:
        calls = read_back(protocol, streamed(protocol, OVERLAPPING)).tool_calls
        assert [(call.name, call.arguments) for call in calls] == [("look", {"x": 1}), ("read", {"y": 2})]


def test_a_call_that_never_began_to_be_written_is_not_in_the_reply() -> None:
    """As in the turn: only whole calls count."""
    events = [TextDelta("Hm."), ToolCallStart("a", "look"), Done("end")]
    for protocol in PROTOCOLS:
        turn = read_back(protocol, streamed(protocol, events))
        assert (turn.text, turn.tool_calls) == ("Hm.", ())


def test_text_with_line_ends_of_other_systems_stays_on_one_line() -> None:
    """Google's SDK splits its lines there."""
    text = "a\u2028b\u2029c\u0085d\ud800e"

    assert len(json_text(text).decode().splitlines()) == 1
    assert len(json_bytes({text[:5]: [text]}).decode().splitlines()) == 1


TEXTS = st.text(max_size=8)
SIGNED = Residue(Origin("gemini", "", "g"), {"thought_signature": "c2ln"})
PLAIN = st.one_of(
    st.builds(TextDelta, TEXTS),
    st.builds(ThinkingDelta, TEXTS),
    st.builds(TextEnd, st.sampled_from([None, SIGNED])),
    st.builds(ThinkingEnd, st.sampled_from([None, SIGNED])),
    st.builds(ToolCallStart, st.sampled_from("ab"), st.just("look")),
    st.builds(ToolCallDelta, st.sampled_from("ab"), TEXTS),
    st.builds(ToolCallComplete, st.sampled_from("ab"), st.sampled_from([None, SIGNED])),
    st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
)


@given(st.lists(PLAIN, max_size=12), st.sampled_from(PROTOCOLS))
def test_any_order_of_events_is_written_and_can_be_read(events: list[Any], protocol: str) -> None:
    """Text and thinking of the events are in the reply, and the same events give the same bytes."""
    ended = [*events, Done("end")]
    body = streamed(protocol, ended)
    turn, expected = read_back(protocol, body), turn_of_events(ended)
    taken_back = expected.text + expected.thinking
    shown = "".join(event.text for event in events if isinstance(event, TextDelta | ThinkingDelta))

    assert body == streamed(protocol, ended)
    assert sorted(turn.text + turn.thinking) == sorted(taken_back) or len(taken_back) == len(shown)
