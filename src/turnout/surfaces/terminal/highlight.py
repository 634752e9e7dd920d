"""Code with colours, line by line: the tokens of the language in the terminal's own colours.

Written out here, over rich's table of colours, because a fast answer spends much of its
time on it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rich.color import ColorSystem
from rich.syntax import ANSI_DARK, ANSI_LIGHT, Syntax

LONGEST_LINE = 2_000
"""Letters of a line beyond which it is data and gets no colours."""


def highlight_code(code: str, language: str, *, light: bool = False) -> str:
    """The code with colours; a language that is not known has none."""
    lexer = _lexer(language.lower())
    if lexer is None or any(len(line) > LONGEST_LINE for line in code.split("\n")):
        return code
    parts: list[str] = []
    for kind, text in lexer.get_tokens(code):
        if text.isspace() or not (style := _style(kind, light)):
            parts.append(text)
            continue
        for line in text.splitlines(keepends=True):  # a colour never runs over the end of a line
            body = line.rstrip("\n")
            parts.append(f"{style}{body}\x1b[0m{line[len(body) :]}" if body else line)
    return "".join(parts).rstrip("\n")


@lru_cache(64)
def _lexer(language: str) -> Any:
    return Syntax("", language).lexer if language else None


@lru_cache(1024)
def _style(kind: Any, light: bool) -> str:
    """What switches to the style of the nearest kind that has one; nothing for plain text."""
    styles = ANSI_LIGHT if light else ANSI_DARK
    while kind:
        if (style := styles.get(kind)) is not None:
            return style.render("|", color_system=ColorSystem.STANDARD).partition("|")[0]
        kind = kind.parent
    return ""
