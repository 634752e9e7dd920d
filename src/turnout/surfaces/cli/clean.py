"""What models and tools write, made safe for a terminal: no control byte but line feed and tab.

`printable` takes out what would steer a terminal. `visible` goes further, for texts that a
user decides on: what cannot be seen, or would turn the reading direction, is spelled out.
"""

from __future__ import annotations

import re
import unicodedata

# Escape sequences whole where they are whole (CSI, OSC, DCS and friends), then any control character left.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[PX^_\]][^\x1b\x07\x9c\n]*(?:\x1b\\|\x07|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x90\x98\x9d\x9e\x9f][^\x1b\x07\x9c\n]*(?:\x1b\\|\x07|\x9c)?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_OURS = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# Letters and marks that take no room or look like a space, beside those that their category tells.
_HOLLOW = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str) -> str:
    """The text without anything that could steer a terminal."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", _SEQUENCES.sub("", text))
    return text.encode("utf-8", "replace").decode()


def one_line(text: str, limit: int = 200) -> str:
    """The text as one line of bounded length."""
    line = " ".join(printable(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def visible(text: str) -> str:
    """The text with everything that cannot be seen spelled out; lines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if _is_plain(letter) else _spelled(letter) for letter in text)


def _is_plain(letter: str) -> bool:
    if letter in " \n\t":
        return True
    category = unicodedata.category(letter)
    return category not in _HIDDEN and category != "Zs" and letter not in _HOLLOW


def _spelled(letter: str) -> str:
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def only_colour(text: str) -> str:
    """Drawn text in which nothing but colours and styles is left of what steers a terminal."""
    return _NOT_OURS.sub(lambda found: found[0] if found[0].endswith("m") else "", text)


def json_line(text: str) -> str:
    """JSON text whose bytes steer nothing: what is unsafe in it can only stand in strings, as an escape."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
