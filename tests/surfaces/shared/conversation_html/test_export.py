"""A conversation as one HTML file: nothing in it acts, and it looks like its page."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.surfaces.pages.hostile import HOSTILE, check_page, hostile_history
from tests.surfaces.pages.shown import sample_history

from turnout import History, Media
from turnout.surfaces.shared.conversation_html.export import conversation_head, export_page


def test_hostile_texts_are_only_text_in_an_export() -> None:
    """Each in every field that others write: no tag, handler or address of theirs is in the file."""
    for at, text in enumerate(HOSTILE):
        history = hostile_history(f"h{at}", text[:200_000])
        page = export_page(history, text[:300])
        check_page(page, is_export=True)
        assert page.startswith("<!doctype html>") and "default-src &#39;none&#39;" in page


def test_an_export_holds_its_pictures_and_names_no_address() -> None:
    """Pictures are data in the file; those that are elsewhere, or can hold scripts, are named."""
    history = sample_history()
    history.user(
        [Media("image/svg+xml", data="PHN2Zz4="), Media("image/png", uri="http://evil.example/x.png")]
    )
    page = export_page(history)
    assert page.count("<img") == 1 and 'src="data:image/png;base64,' in page
    assert not re.search(r'(?:src|href)="(?:/|https?:)', page)


def test_times_of_entries_give_durations() -> None:
    """With the times of its entries an export has when, how long, and the timeline of parallel calls."""
    history = sample_history()
    times = [1_790_000_000.0 + at for at in range(len(history.entries))]
    assert "ran beside each other" in export_page(history, "", times)
    assert "<time" in export_page(history, "", times) and "<time" not in export_page(history)


def test_all_of_a_long_text_is_in_an_export() -> None:
    """A file has no second page, so nothing is cut off in it."""
    history = History("long")
    history.user("word " * 20_000 + "the end")
    assert "the end" in export_page(history)


def test_the_head_counts_as_the_list_does() -> None:
    """Turns that were rewound were paid for: they count, but are not shown."""
    history = sample_history()
    before = conversation_head(history)
    history.rewind(history.turns[2].key)
    head = conversation_head(history)
    assert (head.turns, head.cost, head.rewound) == (before.turns, before.cost, 1)
    assert "Go on." in export_page(sample_history()) and "Go on." not in export_page(history)


@given(st.text(), st.text())
def test_no_text_steers_a_browser(text: str, title: str) -> None:
    """Whatever is said, the file holds only tags of ours and no control character."""
    history = History("h")
    history.user(text)
    page = export_page(history, title)
    check_page(page, is_export=True)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)
