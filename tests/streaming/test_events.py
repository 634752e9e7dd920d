"""Events are values: each has its own tag, and survives as JSON."""

from __future__ import annotations

import typing

import msgspec
import pytest

from turnout import (
    Done,
    OpaqueBlock,
    TextDelta,
    TextEnd,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from turnout.model import Opaque, Origin, Residue
from turnout.streaming.events import Error, StreamEvent

SIGNED = Residue(Origin("gemini", "", "gemini-3-pro"), {"thought_signature": "s"})
EVENTS: list[StreamEvent] = [
    TextDelta("a"),
    TextEnd(SIGNED),
    ThinkingDelta("b"),
    ThinkingEnd(SIGNED),
    ToolCallStart("id", "look"),
    ToolCallDelta("id", "{"),
    ToolCallComplete("id", SIGNED),
    OpaqueBlock(Opaque("search", "found", SIGNED)),
    Usage(1, 2),
    Done("end", "STOP", Usage(1, 2), SIGNED),
    Error("truncated", "cut off"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_the_same_after_json(event: StreamEvent) -> None:
    """With its residue, which a reply encoder needs."""
    assert msgspec.json.decode(msgspec.json.encode(event), type=StreamEvent) == event


def test_every_event_has_an_example_here() -> None:
    """So a new event cannot be forgotten."""
    assert {type(event) for event in EVENTS} == set(typing.get_args(StreamEvent))
