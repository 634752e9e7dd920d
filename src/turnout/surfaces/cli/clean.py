"""What models and tools write, made safe for a terminal: no control byte but line feed and tab.

`printable` takes out what would steer a terminal, and spells out what has no width or turns the
reading direction. `visible` goes further, for texts that a user decides on: whatever cannot be
seen is spelled out.
"""

from __future__ import annotations

import re

from ...tools.visible import spell_hidden, visible

__all__ = ["json_line", "one_line", "only_colour", "printable", "uncontrolled", "visible", "visible_line"]

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


def printable(text: str) -> str:
    """The text without anything that could steer a terminal or hide in it."""
    if text.isascii() and text.isprintable():
        return text
    return spell_hidden(uncontrolled(text))


def uncontrolled(text: str) -> str:
    """A piece of a text without what could steer a terminal; what hides can only be told in the whole."""
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
    """A line of a file with nothing hidden in it; its indentation is plain to see and stays."""
    indent = len(line) - len(line.lstrip(" \t"))
    return line[:indent] + visible(line[indent:])


def only_colour(text: str) -> str:
    """Drawn text in which nothing but colours and styles is left of what steers a terminal."""
    return _NOT_OURS.sub(lambda found: found[0] if found[0].endswith("m") else "", text)


def json_line(text: str) -> str:
    """JSON text whose bytes steer nothing: what is unsafe in it can only stand in strings, as an escape."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
