"""Texts of numbers and times, and the one style sheet."""

from __future__ import annotations

from turnout.surfaces.shared.conversation_html.drawing import (
    counted_text,
    dollars,
    seconds_text,
    size_text,
    style_sheet,
)


def test_numbers_are_short() -> None:
    """Costs, times and sizes are written for people."""
    assert (dollars(0.01234), dollars(None), dollars(1234.5)) == ("$0.0123", "", "$1,234.5000")
    assert (seconds_text(0.0124), seconds_text(2.5), seconds_text(None)) == ("12 ms", "2.50 s", "")
    assert (size_text(10), size_text(2_000), size_text(3_400_000)) == ("10 B", "2 kB", "3 MB")
    assert (counted_text(1, "turn"), counted_text(0, "turn"), counted_text(2000, "turn")) == (
        "1 turn",
        "0 turns",
        "2,000 turns",
    )


def test_the_style_sheet_loads_nothing() -> None:
    """It is put into exports too, so it names no address and imports nothing."""
    sheet = style_sheet()
    assert "url(" not in sheet and "@import" not in sheet and "</style" not in sheet
