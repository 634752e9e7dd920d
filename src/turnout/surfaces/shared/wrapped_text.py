"""Text for people at a terminal: its lines end between two words. Text for a pipe stays as it is."""

from __future__ import annotations

import shutil
import sys
import textwrap

NARROWEST = 20


def wrap_for_terminal(text: str) -> str:
    """The text as it fits the terminal on stdout; unchanged where stdout is a file or a pipe."""
    if not (sys.stdout and sys.stdout.isatty()):
        return text
    return wrap_lines(text, shutil.get_terminal_size().columns)


def wrap_lines(text: str, columns: int) -> str:
    """Each line wrapped between words, the rest of it indented like its beginning."""
    return "\n".join(_wrap_line(line, max(columns, NARROWEST)) for line in text.split("\n"))


def _wrap_line(line: str, columns: int) -> str:
    indent = " " * (len(line) - len(line.lstrip(" ")))
    if len(indent) > columns // 2:
        indent = ""
    return textwrap.fill(
        line,
        columns,
        subsequent_indent=indent,
        break_long_words=False,  # a path or a variable is copied whole
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )
