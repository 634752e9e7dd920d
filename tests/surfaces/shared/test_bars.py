"""Numbers as bars."""

from __future__ import annotations

from turnout.surfaces.shared.bars import bar, bars


def test_bars_show_shares() -> None:
    """A bar is as long as its share; labels and values are aligned."""
    assert bar(1.0, 4) == "████" and bar(0.5, 4) == "██" and bar(0.0, 4) == ""
    assert bar(0.0001, 4) == "▏"  # a little is not nothing
    rows = bars([("a", 1, "1"), ("bb", 2, "20")], 20)
    assert [row[:8] for row in rows] == ["a    1  ", "bb  20  "] and len(rows[1]) == 20
