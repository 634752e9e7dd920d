"""A request body as bytes: fields, then one long array whose bytes were kept.

The bytes already sent stay a prefix of the bytes sent next, so providers can reuse their prompt caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

# Constant texts, added only to make a request valid. They never reach the log.
FIRST_FILLER = "(The conversation goes on from here.)"
LAST_FILLER = "Please continue."
TEXT_FILLER = "(no text)"
JSON_REMINDER = "Answer in JSON."

encode = msgspec.json.Encoder().encode

Pieces = Sequence[bytes | bytearray]
"""Bytes that lie in several pieces, one after the other."""


def body_bytes(fields: Mapping[str, Any], name: str, parts: Iterable[Pieces]) -> bytes:
    """One JSON object: the fields, then the long array, joined from bytes that were kept."""
    head = encode(fields)
    opening = head[:-1] + (b"," if len(head) > 2 else b"") + b'"' + name.encode() + b'":['
    return b"".join((opening, *_comma_separated(parts), b"]}"))


def says_json(*parts: Pieces) -> bool:
    """Whether the messages contain the word JSON: OpenAI refuses JSON mode without it."""
    return any(b"json" in piece.lower() for part in parts for piece in part)


def _comma_separated(parts: Iterable[Pieces]) -> Iterator[bytes | bytearray]:
    first = True
    for part in parts:
        if any(part):
            if not first:
                yield b","
            yield from part
            first = False
