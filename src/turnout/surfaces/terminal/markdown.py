"""Markdown, drawn by rich as text with colours. Loaded with the first answer."""

from __future__ import annotations

from io import StringIO
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, RenderableType
from rich.markdown import Heading, Markdown
from rich.theme import Theme as RichTheme

from ..shared.clean_text import only_colour
from .theme import Theme, rich_styles

# With HTML a `List<String>` in a sentence would lose its second half.
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "left")


class MarkdownDrawer:
    """Draws Markdown for one width and one theme."""

    def __init__(self, theme: Theme, width: int) -> None:
        self._theme = theme
        self._width = max(width, 10)
        self._file = StringIO()
        self._console = Console(
            file=self._file,
            width=self._width,
            force_terminal=theme.colour,
            color_system="standard" if theme.colour else None,
            theme=RichTheme(rich_styles(theme)),
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            safe_box=True,
        )

    def prose(self, text: str) -> str:
        markdown = Markdown("", code_theme=self._theme.code, hyperlinks=False)
        markdown.parsed = _PARSER.parse(text)
        markdown.elements = {**Markdown.elements, "heading_open": _Heading}  # type: ignore[misc]
        return self._text(markdown)

    def _text(self, renderable: RenderableType) -> str:
        self._console.print(renderable)
        text = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        # A table has lines of spaces around it, which would double the gap.
        return "\n".join(line.rstrip() for line in only_colour(text).split("\n")).strip("\n")
