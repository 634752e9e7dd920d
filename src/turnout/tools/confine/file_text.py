"""Bytes of a file as text, and back, so that unchanged parts keep their bytes.

A byte order mark decides the encoding. Without one it is UTF-8. If that fails, but most of what is
not ASCII is still UTF-8, it is UTF-8 with the other bytes escaped; else one byte per character. Each
of these decodings can be undone exactly.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

SNIFFED = 8192

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_STRAY = re.compile("[\udc80-\udcff]")
_OTHER = re.compile("[^\x00-\x7f\udc80-\udcff]")


class DecodedText(Struct, frozen=True):
    """A file's text, and what is needed to write it back as it was."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Other text in the same encoding; raises UnicodeEncodeError where that cannot be."""
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        return self.mark + text.encode(self.encoding, errors)

    @property
    def encoding_note(self) -> str:
        """The encoding in a word, "" for the usual one."""
        if self.encoding == "utf-8":
            return "UTF-8 with BOM" if self.mark else ""
        return self.encoding.upper()

    @property
    def newline(self) -> str:
        """The line ending that most lines have."""
        windows = self.text.count("\r\n")
        return "\r\n" if windows * 2 > self.text.count("\n") else "\n"


def mark_of(head: bytes) -> tuple[bytes, str]:
    """The byte order mark that a file begins with, and its encoding; ("", "") when there is none."""
    return next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", ""))


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file show that it is not text."""
    return b"\0" in head[:SNIFFED] and not mark_of(head)[0]


def decode_text(data: bytes) -> DecodedText:
    """The text of bytes in any encoding."""
    mark, encoding = mark_of(data)
    if encoding and encoding != "utf-8":
        try:
            return DecodedText(data[len(mark) :].decode(encoding), encoding, mark)
        except UnicodeDecodeError:
            mark = b""
    body = data[len(mark) :]
    try:
        return DecodedText(body.decode(), "utf-8", mark)
    except UnicodeDecodeError:
        return _decode_damaged(body, mark)


def _decode_damaged(body: bytes, mark: bytes) -> DecodedText:
    text = body.decode("utf-8", "surrogateescape")
    if mark or len(_OTHER.findall(text)) > len(_STRAY.findall(text)):
        return DecodedText(text, "utf-8", mark)
    try:
        return DecodedText(body.decode("cp1252"), "cp1252")
    except UnicodeDecodeError:
        return DecodedText(body.decode("latin-1"), "latin-1")


def as_utf8(blocks: Iterable[bytes], head: bytes) -> Iterator[bytes]:
    """Blocks of a file of any marked encoding as UTF-8 without its mark; others pass as they are."""
    mark, encoding = mark_of(head)
    if not mark:
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    skip = len(mark)
    for block in blocks:
        yield decoder.decode(block[skip:]).encode("utf-8", "replace")
        skip = 0
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
