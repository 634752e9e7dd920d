"""A session that is one JSON document; also one that is damaged.

Such a file breaks off when a pipe closes or a disk is full, and one lost line makes all of it
unreadable as JSON. The messages before and after the damage are still whole, so they are
found one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from msgspec import Struct

from ...plain import dict_in, loads
from .lines import TORN, UNREADABLE, Record

_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_SPACE = " \t\r\n,"
_CLOSING = " \t\r\n,]}"


class ChatDocument(Struct, frozen=True):
    """The fields of a document and its messages. Broken text is a record in the place of its messages."""

    head: Record
    messages: list[Record]


def read_document(data: bytes, is_message: Callable[[Record], bool]) -> ChatDocument | None:
    """The chat under `messages`, as far as it can be read; None where there is none."""
    written = data.decode(errors="replace").removeprefix("\ufeff")
    written = written[max(written.find("{"), 0) :]  # a command may print a line before it
    try:
        whole = dict_in(loads(written))
    except (ValueError, RecursionError):
        return _read_damaged(written, is_message)
    messages = whole.get("messages")
    return ChatDocument(whole, [dict_in(each) for each in messages]) if isinstance(messages, list) else None


def _read_damaged(written: str, is_message: Callable[[Record], bool]) -> ChatDocument | None:
    found = _MESSAGES.search(written)
    start = found.end() if found else 0
    head = _fields_before(written[:start])
    messages = list(_whole_messages(written, start, is_message))
    if not any(is_message(message) for message in messages):
        return None
    lost = [] if head or not start else [_broken_record(written[:start], UNREADABLE)]
    return ChatDocument(head, [*lost, *messages])


def _fields_before(before: str) -> Record:
    """The fields before the messages, where they are whole."""
    try:
        return dict_in(loads(before + "]}"))
    except (ValueError, RecursionError):
        return {}


def _whole_messages(written: str, start: int, is_message: Callable[[Record], bool]) -> list[Record]:
    """Every whole message from `start` on, and the broken text between them."""
    decoder, found = json.JSONDecoder(), list[Record]()
    at = broken_from = start
    while (at := written.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(written, at)
        except (ValueError, RecursionError):
            value, end = None, at
        if not isinstance(value, dict) or not is_message(value):
            at += 1  # still inside the broken text
            continue
        if broken := written[broken_from:at].strip(_SPACE):
            found.append(_broken_record(broken, UNREADABLE))
        found.append(value)
        at = broken_from = end
    if tail := written[broken_from:].strip(_CLOSING):
        found.append(_broken_record(tail, TORN))
    return found


def _broken_record(text: str, kind: str) -> Record:
    return {"type": kind, "text": text}
