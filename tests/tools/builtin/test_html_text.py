"""The text of a web page, read in one pass."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.tools.builtin.html_text import title_and_text

PAGE = """<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body>
<h1>Hello</h1><p>one <b>two</b> <a href="/x?a=1&amp;b=2">three</a><br>four</p>
<div style="display: none">HIDDEN <p>HIDDEN</p></div><p hidden>HIDDEN</p>
<span aria-hidden="true">HIDDEN</span><span aria-hidden='true'>HIDDEN</span>
<p style="font-size:0">HIDDEN</p><script>document.write("<p>HIDDEN")</script><!-- HIDDEN -->
<ul><li>a</li><li>b</li></ul><pre>  keep
   this</pre><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="i.png" alt="a picture"><a href="javascript:x">plain</a></body></html>"""


def test_a_page_becomes_text() -> None:
    """Headings, lists, links made whole, code as it stands, tables in rows; nothing that was hidden."""
    title, text = title_and_text(PAGE, "https://example.com/dir/")
    assert title == "A & B"
    assert "HIDDEN" not in text
    assert text.startswith("# Hello\n\none two [three](https://example.com/x?a=1&b=2)\nfour")
    assert "- a\n- b" in text
    assert "```\n  keep\n   this\n```" in text
    assert "| k | v\n" in text and "| 1 | 2" in text
    assert "[image: a picture]plain" in text


@given(st.text(alphabet="<>/!-='\" abphidstylecrt&;#x\n", max_size=300))
def test_any_text_is_a_page(text: str) -> None:
    """Broken markup is read as far as it goes."""
    title, found = title_and_text(text)
    assert "\n" not in title and len(found) <= 4 * len(text) + 100


@pytest.mark.parametrize(
    "piece", ["<!--", "<a ", "<div>", "</p>", "<", "<a href='", "<script>", "<a href=x>y", "&", "<p>"]
)
def test_no_page_takes_longer_than_its_length(piece: str) -> None:
    """Twice the page, about twice the time: there is no going back."""

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        return min(_timed(lambda: title_and_text(text)) for _ in range(2))

    assert seconds(80_000) < 16 * seconds(10_000) + 0.3


def _timed(work: Any) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
