"""Markdown of the pages: readable, and nothing in it can act."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.surfaces.pages.hostile import HOSTILE, MARK, check_page

from turnout.surfaces.shared.conversation_html.markdown import (
    code_html,
    is_safe_link,
    markdown_html,
    plain_html,
)


def test_markdown_is_read() -> None:
    """Bold, lists, tables, code and links become HTML."""
    html = markdown_html(
        "**a** ~~b~~\n\n- c\n\n| d |\n|--:|\n| e |\n\n```py\nf<g\n```\n[h](https://example.org)"
    )
    for part in (
        "<strong>a</strong>",
        "<s>b</s>",
        "<li>c</li>",
        "<td>e</td>",
        "f&lt;g",
        'href="https://example.org"',
    ):
        assert part in html, part


def test_hostile_texts_stay_texts() -> None:
    """No tag, handler, style or address of theirs is in the HTML."""
    for text in HOSTILE:
        for html in (markdown_html(text[:50_000]), code_html(text[:50_000]), plain_html(text[:50_000])):
            check_page(html)
            assert f'javascript:{MARK}"' not in html.lower()


@given(st.text(alphabet="<>\"'&[]()!`*_|~#-+:= \nabjs/\\", max_size=300))
def test_any_text_is_safe(text: str) -> None:
    """Whatever is written, the HTML holds only tags that Markdown has."""
    check_page(markdown_html(text))


def test_a_diff_has_two_sides() -> None:
    """Added and removed lines have classes; file names do not."""
    html = code_html("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y")
    assert '<span class="del">-x</span>' in html and '<span class="add">+y</span>' in html
    assert '<span class="add">+++' not in html


def test_images_are_named_and_never_loaded() -> None:
    """Loading one would tell its server who reads the page."""
    html = markdown_html("![a cat](http://evil.example/x.png)")
    assert "<img" not in html and "a cat" in html


def test_links_lead_to_the_web_alone() -> None:
    """Scripts, files, data and mail programs are not started from a page."""
    for address in ("javascript:x", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "//evil.example"):
        assert not is_safe_link(address) and "href" not in markdown_html(f"[x]({address})")
    assert 'rel="noopener noreferrer nofollow"' in markdown_html("[x](https://example.org/a?b=c)")
