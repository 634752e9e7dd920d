"""Markdown for pages and exports: every text is escaped, and a link leads to http or https.

The policy of the pages forbids styles inside them, so cells have no alignment, and headings of a text do
not mix with those of the page. Raw HTML in the text is shown as text. Images are named and never loaded,
since loading one tells a server that the page was read. Diffs get a class a line.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ..clean_text import printable

LONGEST = 20_000
"""Characters of one text that are read as Markdown; a longer one is shown as it is."""
SAFE_LINK = re.compile(r"https?://[^\s\"'<>]+", re.IGNORECASE)
DIFF_LINE = re.compile(r"^(?:@@ |--- |\+\+\+ |diff --git )", re.MULTILINE)
DIFF_CLASSES = {"+": "add", "-": "del", "@": "hunk"}
LONG_CELL_ROWS = 400
"""Rows of tables in one text, above which it is shown as plain text."""


def markdown_html(text: str) -> str:
    """The text as HTML."""
    text = printable(text)
    if len(text) > LONGEST or text.count("\n|") > LONG_CELL_ROWS:
        return plain_html(text)
    return _parsed_html(text)


@lru_cache(256)
def _parsed_html(text: str) -> str:
    """Parsing is most of the work of a page, and a page that is followed is drawn again and again."""
    return str(_PARSER.render(text))


def forget_parsed() -> None:
    """Parse every text anew from now on."""
    _parsed_html.cache_clear()


def plain_html(text: str) -> str:
    """The text as it is, its lines kept."""
    return f'<pre class="plain">{escape(printable(text))}</pre>'


def code_html(text: str, language: str = "") -> str:
    """Source text, or a diff with a colour for each side."""
    text = printable(text)
    if language in ("diff", "patch") or (not language and is_diff(text)):
        return f'<pre class="diff" tabindex="0"><code>{diff_lines_html(text)}</code></pre>'
    return f'<pre class="code" tabindex="0"><code>{escape(text)}</code></pre>'


def is_diff(text: str) -> bool:
    return len(DIFF_LINE.findall(text[:4000])) >= 2


def diff_lines_html(text: str) -> str:
    return "\n".join(_diff_line_html(line) for line in text.split("\n"))


def _diff_line_html(line: str) -> str:
    kind = DIFF_CLASSES.get(line[:1], "")
    if not kind or line.startswith(("+++ ", "--- ")):
        return escape(line)
    return f'<span class="{kind}">{escape(line)}</span>'


def is_safe_link(address: str) -> bool:
    """Whether a link may stand in a page: no script, no file, no data."""
    return SAFE_LINK.fullmatch(address) is not None


def _render_fence(
    self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    words = tokens[at].info.split()
    return code_html(tokens[at].content.rstrip("\n"), words[0].lower() if words else "")


def _render_link(
    self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    href = escape(str(tokens[at].attrs.get("href", "")))
    return f'<a href="{href}" rel="noopener noreferrer nofollow" target="_blank">'


def _render_table(
    self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    return '<div class="wide" tabindex="0"><table>'


def _render_table_end(
    self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    return "</table></div>"


def _render_heading(
    self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """A heading of a text is a paragraph of the page: the page has its own headings, in their order."""
    return '<p class="heading">' if tokens[at].nesting == 1 else "</p>"


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    setattr(parser, "validateLink", is_safe_link)  # noqa: B010  # the name is the parser's own
    for name, rule in {
        "fence": _render_fence,
        "code_block": _render_fence,
        "link_open": _render_link,
        "table_open": _render_table,
        "table_close": _render_table_end,
        "heading_open": _render_heading,
        "heading_close": _render_heading,
    }.items():
        parser.add_render_rule(name, rule)
    parser.add_render_rule("td_open", _plain_cell("td"))
    parser.add_render_rule("th_open", _plain_cell("th"))
    return parser


def _plain_cell(tag: str) -> Any:
    """A cell without the style attribute of its alignment: the page's policy forbids such styles."""

    def render_cell(
        self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
    ) -> str:
        return f"<{tag}>"

    return render_cell


_PARSER = _make_parser()
