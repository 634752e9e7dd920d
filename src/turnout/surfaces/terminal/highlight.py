"""Syntax highlighting, line by line, in the terminal's own colours.

It uses rich's colour table but not its renderer, because highlighting takes much of the time of a
fast answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rich.color import ColorSystem
from rich.syntax import ANSI_DARK, ANSI_LIGHT, Syntax

LONGEST_LINE = 2_000
"""Characters of a line; a longer one is data and gets no colours."""


def highlight_code(code: str, language: str, *, light: bool = False) -> str:
    """The code with colours; without colours if the language is unknown."""
    lexer = _lexer(language.lower())
    if lexer is None or any(len(line) > LONGEST_LINE for line in code.split("\n")):
        return code
    parts: list[str] = []
    for kind, text in lexer.get_tokens(code):
        if text.isspace() or not (style := _style(kind, light)):
            parts.append(text)
            continue
        for line in text.splitlines(keepends=True):  # a colour ends with its line
            body = line.rstrip("\n")
            parts.append(f"{style}{body}\x1b[0m{line[len(body) :]}" if body else line)
    return "".join(parts).rstrip("\n")


@lru_cache(64)
def _lexer(language: str) -> Any:
    return Syntax("", language).lexer if language else None


@lru_cache(1024)
def _style(kind: Any, light: bool) -> str:
    """The escape sequence for the style of this kind or its nearest parent; "" for plain text."""
    styles = ANSI_LIGHT if light else ANSI_DARK
    while kind:
        if (style := styles.get(kind)) is not None:
            return style.render("|", color_system=ColorSystem.STANDARD).partition("|")[0]
        kind = kind.parent
    return ""
