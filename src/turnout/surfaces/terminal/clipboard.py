"""The clipboard: through the terminal (OSC 52), or through a program of the system.

Over SSH only the terminal knows the user's clipboard, so it comes first there. A clipboard
program may outlive us, so it gets the variables of the display and no API keys.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Mapping

from ...tools.confine.process import environment as process_environment

SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "WSL_INTEROP")
WRITERS = (("pbcopy",), ("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-ib"), ("clip.exe",))
IMAGE_READERS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
)
LARGEST_SEQUENCE = 74_994
"""Bytes of text in one OSC 52 sequence: xterm takes 100,000 characters, and base64 adds a third."""
PATIENCE = 5.0


def terminal_sequence(text: str, environment: Mapping[str, str]) -> str:
    """The sequence with which a terminal copies a text; "" if the text is too long for it."""
    data = text.encode()
    if len(data) > LARGEST_SEQUENCE:
        return ""
    sequence = f"\x1b]52;c;{b64encode(data).decode()}\x07"
    if environment.get("TERM", "").startswith("screen") and not environment.get("TMUX"):
        return f"\x1bP{sequence}\x1b\\"  # GNU screen passes on what stands in a DCS
    return sequence


def is_remote(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))


def copy_with_program(text: str) -> bool:
    """Copy with the first clipboard program that works."""
    return any(shutil.which(words[0]) and _run_program(words, text.encode()) is not None for words in WRITERS)


def image_in_clipboard() -> bytes:
    """The image that was copied; empty if there is none, or no program that reads it."""
    for words in IMAGE_READERS:
        if shutil.which(words[0]) and (data := _run_program(words, b"")):
            return data
    return b""


def _run_program(words: tuple[str, ...], given: bytes) -> bytes | None:
    known = process_environment(os.environ, SCREEN)
    output = subprocess.PIPE if words in IMAGE_READERS else subprocess.DEVNULL
    try:
        done = subprocess.run(
            words,
            input=given,
            timeout=PATIENCE,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env=known,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout or b"") if done.returncode == 0 else None
