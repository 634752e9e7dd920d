"""Where a history was read from, so that the next request is read from where this one ended.

A client sends its whole conversation with every request. The messages that a history was read
from are recognised by the hash of their JSON, and only what follows them is read.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from ...model import Entry, Origin
from .formats import Format
from .straight import StepAside, StraightReader

_encode_lines = msgspec.json.Encoder().encode_lines


def encode_messages(listed: list[Any]) -> bytes | None:
    """The messages as lines of JSON; None where an object among them cannot be written so."""
    try:
        return _encode_lines(listed)
    except Exception:  # an object whose methods raise, a circle, a lone surrogate
        return None


class Source(Struct, frozen=True):
    """The messages of a history: a reader that stands behind the last of them, and their hash."""

    form: Format
    reader: StraightReader
    size: int  # of their JSON, in bytes
    digest: bytes
    entries: int  # of the history; one that was written to since has more

    def read_more(
        self, listed: list[Any], encoded: bytes, form: Format, origin: Origin
    ) -> tuple[Source, list[Entry]] | None:
        """The new source and the entries of the messages that follow those that were read.

        None where the messages do not begin with those, or where all must be read to understand the rest.
        """
        if form is not self.form or origin != self.reader.context.origin:
            return None
        digest = sha256(memoryview(encoded)[: self.size])
        if digest.digest() != self.digest:
            return None
        digest.update(memoryview(encoded)[self.size :])
        reader = self.reader.copy_for_more()
        try:
            entries = reader.read(listed[reader.count :])
        except StepAside:
            return None
        count = self.entries + len(entries)
        return Source(form, reader, len(encoded), digest.digest(), count), entries


def source_of(form: Format, reader: StraightReader, encoded: bytes | None, entries: int) -> Source | None:
    """Where a history comes from; None where the same JSON may stand for other messages."""
    if encoded is None or any(found.code == "unplain_value" for found in reader.context.findings):
        return None
    return Source(form, reader, len(encoded), sha256(encoded).digest(), entries)
