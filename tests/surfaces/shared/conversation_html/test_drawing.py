"""Texts of numbers and times, and the one style sheet."""

from __future__ import annotations

import re

from turnout.surfaces.shared.conversation_html.drawing import (
    counted_text,
    dollars,
    seconds_text,
    size_text,
    style_sheet,
)
from turnout.surfaces.shared.conversation_html.rows import COLOURS


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


TEXTS = ("fg", "soft", "link", "good", "bad", "warn")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(luminance((each * 2)[:6]) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


def test_the_colour_of_every_provider_can_be_read() -> None:
    """Names are written in these colours: 4.5 to 1 on a page and on a card, light and dark (WCAG AA)."""
    found = re.findall(r"(?:--|\.)(\w+)(?: { --c)?: #(\w{3,6})\b", style_sheet())
    light, dark = dict(found[::-1]), dict(found)  # each is written twice, the dark one last
    for scheme in (light, dark):
        for name in (
            *(f"p{number}" for number in range(COLOURS)),
            "fg",
            "soft",
            "link",
            "good",
            "bad",
            "warn",
        ):
            for ground in ("bg", "card"):
                assert contrast(scheme[name], scheme[ground]) >= 4.5, (name, scheme[name], ground)
