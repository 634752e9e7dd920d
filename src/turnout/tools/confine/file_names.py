"""File names as text that a model can read and send back.

To the kernel a name is bytes. `escape_name` escapes what text cannot hold (bytes that are not UTF-8)
and what would deceive a reader (line breaks, controls, characters that turn the reading direction or
have no width). `unescape_name` is its inverse, for when the text itself names nothing.
"""

from __future__ import annotations

import re

_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"
)
_SHOWN_BYTE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\n|\\t|\\r")
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def escape_name(name: str) -> str:
    """A name as text that a model can read and send back."""
    return _UNSHOWABLE.sub(_escape_character, name)


def unescape_name(name: str) -> str:
    """The name that `escape_name` wrote."""
    return _SHOWN_BYTE.sub(_unescape_character, name)


def _escape_character(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT:
        return _SHORT[character]
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return f"\\u{ord(character):04x}"


def _unescape_character(match: re.Match[str]) -> str:
    byte, point = match[1], match[2]
    if byte:
        return chr(0xDC00 + int(byte, 16)) if int(byte, 16) >= 0x80 else chr(int(byte, 16))
    if point:
        return chr(int(point, 16))
    return {r"\n": "\n", r"\t": "\t", r"\r": "\r"}[match[0]]
