"""Colours and signs: the sixteen colours of the terminal, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from msgspec import Struct

from ...world.config import ThemeName

THEMES: tuple[str, ...] = get_args(ThemeName)

SGR = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "accent": "36",
    "good": "32",
    "warn": "33",
    "bad": "31",
    "user": "1;36",
    "risk": "1;33",
}
LIGHT = {"accent": "34", "user": "1;34", "warn": "35", "risk": "1;35"}


class Signs(Struct, frozen=True):
    """The characters that a screen is drawn with."""

    user: str = "❯"
    call: str = "●"
    failed: str = "✗"
    result: str = "⎿"
    thought: str = "✻"
    bar: str = "│"
    rule: str = "─"
    dot: str = "·"
    ellipsis: str = "…"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


PLAIN_SIGNS = Signs(">", "*", "x", "|", "*", "|", "-", "-", "...", "|/-\\")


class Theme(Struct, frozen=True):
    """How text is painted. Without colour it stays as it is."""

    name: str = "dark"
    colour: bool = True
    signs: Signs = Signs()

    @property
    def code(self) -> str:
        """The colour table of rich for code."""
        return "ansi_light" if self.name == "light" else "ansi_dark"

    def paint(self, text: str, *styles: str) -> str:
        if not self.colour or not text:
            return text
        codes = ";".join(self._code(style) for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def _code(self, style: str) -> str:
        return LIGHT.get(style, SGR[style]) if self.name == "light" else SGR[style]


def theme(name: str, environment: Mapping[str, str], *, tty: bool, encoding: str | None = "utf-8") -> Theme:
    """The theme that the user chose, as far as the terminal can show it."""
    colour = tty and not environment.get("NO_COLOR") and environment.get("TERM", "") not in ("", "dumb")
    signs = Signs() if (encoding or "").lower().replace("-", "") in ("utf8", "utf_8") else PLAIN_SIGNS
    if name == "auto":
        name = "light" if _is_light(environment) else "dark"
    return Theme(name, colour and name != "mono", signs)


def _is_light(environment: Mapping[str, str]) -> bool:
    """Some terminals set COLORFGBG: a background of 15 or 7 is white or light grey."""
    return environment.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")


def rich_styles(theme: Theme) -> dict[str, Any]:
    """Styles for Markdown without backgrounds, so that they are readable on any terminal."""
    accent = "blue" if theme.name == "light" else "cyan"
    heading = f"bold {accent}"
    return {
        **{f"markdown.h{level}": heading for level in range(1, 7)},
        "markdown.code": accent,
        "markdown.code_block": "default",
        "markdown.link": "underline",
        "markdown.link_url": accent,
        "markdown.block_quote": "italic",
        "markdown.item.bullet": accent,
        "markdown.item.number": accent,
        "markdown.hr": "dim",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
    }
