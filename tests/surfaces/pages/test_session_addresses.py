"""What is below `/sessions`: which page an address asks for, also with odd ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.pages.shown import sample_history, shown


def test_a_session_may_be_named_like_one_of_our_pages(tmp_path: Path) -> None:
    """The longest id that exists is the session; the rest is the page."""
    with shown(tmp_path) as made:
        for key in ("a", "a/as", "a/live", "x/export.html"):
            made.store.add(sample_history(key), title=f"Title of {key}")
        for key in ("a", "a/as", "a/live", "x/export.html"):
            for address in (f"/sessions/{key}", f"/sessions/{key.replace('/', '%2F')}"):
                assert f"<h1>Title of {key}</h1>" in made.text(address)
        assert "As kimi:kimi-k2.5" in made.text("/sessions/a/as/as/kimi:kimi-k2.5")


def test_the_form_leads_to_an_address_that_can_be_copied(tmp_path: Path) -> None:
    """Target and comparison are in the address, so that it shows the same to someone else."""
    with shown(tmp_path) as made:
        made.store.add(sample_history())
        asked = "/sessions/sample/as?target=openrouter%3Aa%2Fb+&against=kimi%3Akimi-k2.5"
        place = made.ask(asked).headers["location"]
        assert place == "/sessions/sample/as/openrouter%3Aa%2Fb?against=kimi%3Akimi-k2.5"
        assert "Against kimi:kimi-k2.5" in made.text(place)


@pytest.mark.parametrize("number", ["0", "-1", "99999999999999999999", "x", "٣", "1e9", ""])
def test_odd_numbers_in_addresses_are_answered(tmp_path: Path, number: str) -> None:
    """A place or a page that is not a number of ours is a page or a 404, never an error of ours."""
    with shown(tmp_path) as made:
        made.store.add(sample_history())
        made.add_requests(2)
        for url in (
            f"/sessions?page={number}",
            f"/sessions/sample?from={number}",
            f"/sessions/sample/live?from={number}",
            f"/sessions/sample/media/{number}/{number}",
            f"/sessions/sample/text/{number}",
            f"/requests?before={number}",
            f"/numbers?days={number}",
        ):
            assert made.ask(url).status in (200, 404), url


def test_the_whole_text_of_a_summary_is_one_link_away(tmp_path: Path) -> None:
    """A summary that the page cuts off is whole behind its link."""
    with shown(tmp_path) as made:
        history = sample_history()
        history.compact(history.turns[2].key, "summary " * 5000 + "its end")
        made.store.add(history)
        page = made.text("/sessions/sample")
        assert "its end" not in page
        place = next(
            at for at, entry in enumerate(history.entries, 1) if type(entry).__name__ == "Compaction"
        )
        assert f'href="/sessions/sample/text/{place}"' in page
        assert made.text(f"/sessions/sample/text/{place}").endswith("its end")
