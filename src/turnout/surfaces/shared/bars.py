"""Numbers as horizontal bars."""

from __future__ import annotations

from collections.abc import Sequence

EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """A bar of this share of the width, to an eighth of a character. More than zero is visible."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def bars(rows: Sequence[tuple[str, float, str]], width: int) -> list[str]:
    """A line for each row: label, value and bar, within the width."""
    if not rows:
        return []
    labels = max(len(label) for label, _, _ in rows)
    longest = max(len(text) for _, _, text in rows)
    room = max(8, width - labels - longest - 4)
    largest = max(number for _, number, _ in rows) or 1.0
    return [
        f"{label.ljust(labels)}  {text.rjust(longest)}  {bar(number / largest, room)}".rstrip()
        for label, number, text in rows
    ]
