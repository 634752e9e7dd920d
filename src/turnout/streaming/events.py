"""What happens while a model answers: one set of events for every provider.

A reply is any number of deltas, then exactly one `Done` or `Error`. Ids are canonical
from here on.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from ..errors import FailureKind
from ..model import Code, Media, Opaque, Residue, Stop, Usage


class TextDelta(Struct, frozen=True, tag="text_delta"):
    """A piece of what the model says."""

    text: str


class TextEnd(Struct, frozen=True, tag="text_end"):
    """A stretch of text is over; the residue is what its provider wants back.

    It comes only where it says something: with a residue, or before another text. Without a text
    before it, it is an empty text that carries the residue.
    """

    residue: Residue | None = None


class ThinkingDelta(Struct, frozen=True, tag="thinking_delta"):
    """A piece of what the model thinks."""

    text: str


class ThinkingEnd(Struct, frozen=True, tag="thinking_end"):
    """A stretch of thinking is over; the residue is what its provider wants back."""

    residue: Residue | None = None


class ToolCallStart(Struct, frozen=True, tag="tool_call_start"):
    """The model began to call a tool."""

    id: str
    name: str


class ToolCallDelta(Struct, frozen=True, tag="tool_call_delta"):
    """A piece of a call's arguments, as text."""

    id: str
    args_delta: str


class ToolCallComplete(Struct, frozen=True, tag="tool_call_complete"):
    """The call is whole; the residue is what its provider wants back."""

    id: str
    residue: Residue | None = None


class OpaqueBlock(Struct, frozen=True, tag="opaque_block"):
    """A block that came whole: something only this provider understands, media, or code it ran."""

    block: Opaque | Media | Code


class Done(Struct, frozen=True, tag="done"):
    """The reply ended as it should; `raw_stop` is the provider's own word.

    `usage` repeats the last token counts, `residue` is what the provider wants back with the reply.
    """

    stop: Stop
    raw_stop: str = ""
    usage: Usage | None = None
    residue: Residue | None = None


class Error(Struct, frozen=True, tag="error"):
    """The reply ended in failure."""

    kind: FailureKind
    message: str


StreamEvent: TypeAlias = (
    TextDelta
    | TextEnd
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallComplete
    | OpaqueBlock
    | Usage
    | Done
    | Error
)
"""What a reply is made of as it arrives, as `turnout.stream` gives it."""
