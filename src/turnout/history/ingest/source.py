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
from .issued import Issued
from .straight import StepAside, StraightReader

_decode_list = msgspec.json.Decoder(list[Any]).decode


class Source(Struct, frozen=True):
    """The messages of a history: a reader that stands behind the last of them, and their hash."""

    form: Format
    reader: StraightReader
    size: int  # of their JSON in bytes, without the bracket that closes the list
    digest: bytes
    entries: int  # of the history; one that was written to since has more

    def read_more(
        self, text: memoryview | None, form: Format, origin: Origin, issued: Issued | None = None
    ) -> tuple[Source, list[Entry]] | None:
        """The new source and the entries of the messages that follow those that were read.

        None where the messages do not begin with those, or where all must be read to understand the rest.
        """
        if text is None or form is not self.form or origin != self.reader.context.origin:
            return None
        digest = sha256(text[: self.size])
        if digest.digest() != self.digest or (rest := self._rest_of(text)) is None:
            return None
        size = _size_of(text)
        digest.update(text[self.size : size])
        reader = self.reader.copy_for_more(issued)
        try:
            entries = reader.read(rest)
        except StepAside:
            return None
        return Source(form, reader, size, digest.digest(), self.entries + len(entries)), entries

    def _rest_of(self, text: memoryview) -> list[Any] | None:
        """The messages behind those that were read; None where the text goes on in another way."""
        after = bytes(text[self.size :]).lstrip()
        if self.reader.count == 0 or after == b"]":
            return _decode_list(b"[" + after)
        return _decode_list(b"[" + after[1:]) if after.startswith(b",") else None


def source_of(form: Format, reader: StraightReader, text: memoryview | None, entries: int) -> Source | None:
    """Where a history comes from; None where the same JSON may stand for other messages."""
    if text is None or any(found.code == "unplain_value" for found in reader.context.findings):
        return None
    size = _size_of(text)
    return Source(form, reader, size, sha256(text[:size]).digest(), entries)


def _size_of(text: memoryview) -> int:
    """Without the bracket that closes the list, so that a longer list begins with the same bytes."""
    size = len(text) - 1
    while text[size - 1] in b" \t\r\n":
        size -= 1
    return size
