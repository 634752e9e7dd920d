"""Texts of numbers and times, and what every page is sent with."""

from __future__ import annotations

from turnout.surfaces.pages.drawing import dollars, environment, page_response, seconds_text, size_text


def test_every_template_escapes() -> None:
    """No template turns escaping off, but for the style of an export, which is ours."""
    loader = environment().loader
    assert loader is not None
    for name in loader.list_templates():
        source = loader.get_source(environment(), name)[0]
        assert "|safe" not in source or name == "export.html", name
        assert source.count("|safe") <= 1 and " style=" not in source and "onclick" not in source


def test_numbers_are_short() -> None:
    """Costs, times and sizes are written for people."""
    assert (dollars(0.01234), dollars(None), dollars(1234.5)) == ("$0.0123", "", "$1,234.5000")
    assert (seconds_text(0.0124), seconds_text(2.5), seconds_text(None)) == ("12 ms", "2.50 s", "")
    assert (size_text(10), size_text(2_000), size_text(3_400_000)) == ("10 B", "2 kB", "3 MB")


def test_a_page_is_not_kept_by_the_browser() -> None:
    """Pages hold conversations: nothing caches them, frames them or sniffs them."""
    headers = page_response("x").headers
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
