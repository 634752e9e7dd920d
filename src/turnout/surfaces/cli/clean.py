"""What models and tools write, made safe for a terminal: no control byte but line feed and tab."""

from __future__ import annotations

import re

# Escape sequences whole where they are whole (CSI, OSC, DCS and friends), then any control character left.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[PX^_\]][^\x1b\x07\x9c]*(?:\x1b\\|\x07|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x90\x98\x9d\x9e\x9f][^\x1b\x07\x9c]*(?:\x1b\\|\x07|\x9c)?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """The text without anything that could steer a terminal."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", _SEQUENCES.sub("", text))
    return text.encode("utf-8", "replace").decode()
