"""Makes the text of models and tools safe for a terminal: no control byte but line feed and tab.

`printable` removes terminal control sequences, and spells out characters that have no width or
change the reading direction. `visible` does more, for texts that the user decides on: every
character that cannot be seen is spelled out.
"""

from __future__ import annotations

import re

from ...tools.policy.visible import spell_hidden, visible

__all__ = ["json_line", "one_line", "only_colour", "printable", "visible", "visible_line", "without_controls"]

# Complete escape sequences first (CSI, OSC, DCS and others), then any control character that is left.
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


def printable(text: str) -> str:
    """The text without terminal control sequences, and with hidden characters spelled out."""
    if text.isascii() and text.isprintable():
        return text
    return spell_hidden(without_controls(text))


def without_controls(text: str) -> str:
    """A piece of a text without terminal control. Hidden characters can only be found in the whole text."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", _SEQUENCES.sub("", text))
    return text.encode("utf-8", "replace").decode()


def one_line(text: str, limit: int = 200) -> str:
    """The text as one line of bounded length."""
    line = " ".join(printable(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def visible_line(line: str) -> str:
    """A line of a file with hidden characters spelled out. Its indentation stays."""
    indent = len(line) - len(line.lstrip(" \t"))
    return line[:indent] + visible(line[indent:])


def only_colour(text: str) -> str:
    """Drawn text whose only control sequences are colours and styles."""
    return _NOT_OURS.sub(lambda found: found[0] if found[0].endswith("m") else "", text)


def json_line(text: str) -> str:
    """JSON that is safe to print: unsafe characters can only be in strings, where they become escapes."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
