"""What a tool returns, as an outcome: text, JSON, media or code, and never a call.

A call inside a result would be in the history without a turn that made it. So it is removed, in
every mode, and the number of removed calls is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...model import Code, Content, Media, Opaque, Outcome, Text, Thinking, ToolCall, ToolResponse
from ...plain import dumps

BLOCKS = (Text, Media, Code, Opaque, Thinking, ToolCall, ToolResponse)
CALL_TAKEN_OUT = "[a tool call inside this result was removed]"


class Returned(Struct, frozen=True):
    """The outcome of a call, and how many calls were taken out of it."""

    outcome: Outcome
    calls: int = 0


def outcome_of(value: Any) -> Returned:
    """The outcome that a tool's return value means."""
    if isinstance(value, Outcome):
        return Returned(value)
    if isinstance(value, str) or value is None:
        return Returned(Outcome("complete", value))
    if isinstance(value, BLOCKS):
        value = [value]
    if isinstance(value, list | tuple) and any(isinstance(item, BLOCKS) for item in value):
        return _of_blocks(value)
    return Returned(Outcome("complete", (Text(dumps(value)),)))


def failure(error: BaseException) -> Outcome:
    """The outcome of a tool that raised: its error as text."""
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:  # an exception that cannot even be printed
        message = ""
    return error_outcome(f"{name}: {message}" if message else name)


def error_outcome(message: str) -> Outcome:
    """The outcome of a call that failed, with a message for the model."""
    return Outcome("error", (Text(message),))


def _of_blocks(items: Iterable[Any]) -> Returned:
    held = list(items)
    calls = sum(isinstance(item, ToolCall | ToolResponse) for item in held)
    content = tuple(_allowed_blocks(held))
    if calls and not content:
        content = (Text(CALL_TAKEN_OUT),)
    return Returned(Outcome("complete", content), calls)


def _allowed_blocks(items: Iterable[Any]) -> Iterator[Content]:
    """The blocks a result may hold. Thinking and residue of another model are removed."""
    for item in items:
        match item:
            case ToolCall() | ToolResponse() | Thinking():
                continue
            case Text() | Media() | Code() | Opaque():
                yield item if item.residue is None else replace(item, residue=None)
            case str():
                yield Text(item)
            case _:
                yield Text(dumps(item))
