"""A session that is one JSON document; also one that is damaged.

Such a file breaks off when a pipe or a disk was too small, and one lost line makes all of it
unreadable as JSON. The messages before and after the damage are whole all the same, so they
are found one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from msgspec import Struct

from ...plain import loads
from .lines import TORN, UNREADABLE, Record
from .telling import fields

_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_SPACE = " \t\r\n,"
_CLOSING = " \t\r\n,]}"


class Document(Struct, frozen=True):
    """What a document holds: its fields, its messages, and what is broken, in the place of messages."""

    head: Record
    messages: list[Record]


def read_document(data: bytes, is_message: Callable[[Record], bool]) -> Document | None:
    """The chat that the data holds under `messages`, as far as it can be read; None where it is not one."""
    written = data.decode(errors="replace").removeprefix("\ufeff")
    written = written[max(written.find("{"), 0) :]  # a command may print a line before it
    try:
        whole = fields(loads(written))
    except (ValueError, RecursionError):
        return _rescued(written, is_message)
    messages = whole.get("messages")
    return Document(whole, [fields(each) for each in messages]) if isinstance(messages, list) else None


def _rescued(written: str, is_message: Callable[[Record], bool]) -> Document | None:
    found = _MESSAGES.search(written)
    start = found.end() if found else 0
    head = _head(written[:start])
    messages = list(_whole_messages(written, start, is_message))
    if not any(is_message(message) for message in messages):
        return None
    lost = [] if head or not start else [_broken(written[:start], UNREADABLE)]
    return Document(head, [*lost, *messages])


def _head(before: str) -> Record:
    """The fields before the messages, where they are whole."""
    try:
        return fields(loads(before + "]}"))
    except (ValueError, RecursionError):
        return {}


def _whole_messages(written: str, start: int, is_message: Callable[[Record], bool]) -> list[Record]:
    """Every message that is whole from `start` on, and the text between them where it is more than commas."""
    decoder, found = json.JSONDecoder(), list[Record]()
    at = broken_from = start
    while (at := written.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(written, at)
        except (ValueError, RecursionError):
            value, end = None, at
        if not isinstance(value, dict) or not is_message(value):
            at += 1  # inside what is broken
            continue
        if broken := written[broken_from:at].strip(_SPACE):
            found.append(_broken(broken, UNREADABLE))
        found.append(value)
        at = broken_from = end
    if tail := written[broken_from:].strip(_CLOSING):
        found.append(_broken(tail, TORN))
    return found


def _broken(text: str, kind: str) -> Record:
    return {"type": kind, "text": text}
