"""The templates of the pages, and what every page is sent with."""

from __future__ import annotations

from turnout.surfaces.pages.drawing import environment, page_response


def test_every_template_escapes() -> None:
    """No template turns escaping off, but for the style of an export, which is ours."""
    loader = environment().loader
    assert loader is not None
    for name in loader.list_templates():
        source = loader.get_source(environment(), name)[0]
        assert "|safe" not in source or name == "export.html", name
        assert source.count("|safe") <= 1 and " style=" not in source and "onclick" not in source


def test_a_page_is_not_kept_by_the_browser() -> None:
    """Pages hold conversations: nothing caches them, frames them or sniffs them."""
    headers = page_response("x").headers
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
