"""Markdown as HTML that is safe to put into a page: for exports, and for any page that shows an answer.

Everything a model wrote is hostile: raw HTML is shown as text, links lead only to http, https and mail
addresses, and images are named and never loaded. The result holds no script, no style and no handler.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Any

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)[^\s\"'<>]+", re.IGNORECASE)


def markdown_html(text: str) -> str:
    """The text as HTML; as one escaped block where the parser is not installed."""
    parser = _parser()
    if parser is None:
        return f"<pre>{html.escape(text, quote=True)}</pre>"
    return str(parser.render(text))


def is_safe_link(address: str) -> bool:
    """Whether a link may stand in a page: no script, no file, no data."""
    return _SAFE_LINK.fullmatch(address) is not None


@lru_cache(1)
def _parser() -> Any:
    try:
        from markdown_it import MarkdownIt
    except ModuleNotFoundError:  # it comes with the extra `terminal`
        return None
    parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
    setattr(parser, "validateLink", is_safe_link)  # noqa: B010  # the name is the parser's own
    parser.add_render_rule("image", _image_words)
    parser.add_render_rule("link_open", _link_tag)
    return parser


def _image_words(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """An image by its name: a page that loads it would tell its address who reads it."""
    return f"<em>[image: {html.escape(tokens[at].content or 'without a name', quote=True)}]</em>"


def _link_tag(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    address = str(tokens[at].attrGet("href") or "")
    if not is_safe_link(address):
        return "<a>"
    return f'<a href="{html.escape(address, quote=True)}" rel="noopener noreferrer nofollow">'
