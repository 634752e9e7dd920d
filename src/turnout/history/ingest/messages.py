"""Messages one by one: each is read by the reader of its own shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import parts
from .formats import Format, reader_of
from .message_parts import Heard, HeardNote, ReadContext, text_of
from .snapshot import snapshot


def read_messages(listed: list[Any], form: Format, context: ReadContext) -> Iterator[Heard]:
    for number, given in enumerate(listed):
        yield from read_message(number, given, form, context)


def read_message(number: int, given: Any, form: Format, context: ReadContext) -> list[Heard]:
    """The message as shared types; `number` is its place in the list, for the findings."""
    message, is_same = snapshot(given)
    if not is_same:
        context.report("unplain_value", f"message {number}")
    try:
        return list(_read_snapshot(message, form, context, number))
    except RecursionError:
        context.report("unplain_value", f"message {number} is nested too deep to be read")
        return [Heard("user", (HeardNote("unreadable_message", message),), context.origin)]


def _read_snapshot(message: Any, form: Format, context: ReadContext, number: int) -> Iterator[Heard]:
    if isinstance(message, dict):
        reader = reader_of(message, form)
        if reader is not form.read:
            context.report("mixed_shapes", f"message {number} is not {form.name}")
        yield from reader(message, context)
        return
    if not isinstance(message, str) and message is not None:
        context.report("unknown_role", f"message {number} is {type(message).__name__}")
    yield Heard("user", tuple(parts.items_of(text_of(message), context)), context.origin)
