"""Markdown as HTML: what a model writes cannot do anything in a page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.interchange.html_markdown import is_safe_link, markdown_html

ALLOWED = {
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "strong",
    "em",
    "s",
    "code",
    "pre",
    "blockquote",
    "hr",
    "br",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


HOSTILE = st.lists(
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "[x](javascript:alert(1))",
            "![y](http://evil/p.png)",
            "<img src=x onerror=a>",
            "[a](data:text/html,x)",
            '[q](http://a"onclick="x)',
            "<a href='javascript:1'>",
            "`<b>`",
            "```html\n<i>\n```",
            "| a | b |\n|---|---|\n| <u> | c |",
            "&lt;script&gt;",
            "[r]: javascript:x\n[r]",
            "\\<svg/onload=x>",
            "# <h1 onclick=x>",
            "<!-- x -->",
            "[z](//evil)",
            "<http://ok.example>",
            "<javascript:x>",
        ]
    )
    | st.text(max_size=20),
    max_size=8,
).map("\n\n".join)


@given(HOSTILE)
def test_a_page_holds_only_harmless_tags(text: str) -> None:
    """No script, no handler, no image, no link but to the web or a mail address."""
    for tag, attributes in Tags(markdown_html(text)).seen:
        assert tag in ALLOWED, tag
        assert set(attributes) <= {"href", "rel", "class", "style", "start"}, attributes
        assert attributes.get("style", "") in ("", "text-align:left", "text-align:right", "text-align:center")
        if "href" in attributes:
            assert is_safe_link(attributes["href"] or "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**b** and `c`", "<strong>b</strong> and <code>c</code>"),
        ("List<String> stays", "List&lt;String&gt; stays"),
        (
            "[docs](https://a.example/x)",
            '<a href="https://a.example/x" rel="noopener noreferrer nofollow">docs</a>',
        ),
        ("![a cat](http://evil/x.png)", "<em>[image: a cat]</em>"),
    ],
)
def test_markdown_is_drawn(text: str, shown: str) -> None:
    """Bold, code and links are drawn; HTML is text; images are named."""
    assert shown in markdown_html(text)
