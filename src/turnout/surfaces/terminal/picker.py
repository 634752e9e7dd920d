"""A list from which the user picks one row; typing narrows it. Values in, values out: no terminal.

The same list is a menu above the input line of a terminal, and numbered lines in plain mode.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

SHOWN = 10
"""Rows of a list that are in view at once."""


class PickRow(Struct, frozen=True):
    """One row: its name, what is said of it, and words that find it too."""

    name: str
    detail: str = ""
    hidden: str = ""

    def fits(self, words: Sequence[str]) -> bool:
        """Whether every word stands somewhere in the row."""
        text = f"{self.name} {self.detail} {self.hidden}".lower()
        return all(word in text for word in words)


class Picker:
    """The rows that fit what was typed, and which of them is chosen."""

    def __init__(self, title: str, rows: Sequence[PickRow], at: int = 0) -> None:
        self.title = title
        self.rows = tuple(rows)
        self.at = at if 0 <= at < len(self.rows) else 0
        self._words: list[str] = []

    @property
    def fitting_rows(self) -> list[int]:
        """The positions of the rows that fit what was typed."""
        return [at for at, row in enumerate(self.rows) if row.fits(self._words)]

    @property
    def chosen_row(self) -> int | None:
        """The position of the chosen row among all rows; None if no row fits."""
        fitting = self.fitting_rows
        return fitting[min(self.at, len(fitting) - 1)] if fitting else None

    def narrow(self, typed: str) -> None:
        """Show only the rows with these words."""
        words = typed.lower().split()
        if words != self._words:
            self._words, self.at = words, 0

    def move(self, steps: int) -> None:
        """Choose another row; the ends of the list are its ends."""
        self.at = max(0, min(self.at + steps, len(self.fitting_rows) - 1))

    def window(self, rows: int = SHOWN) -> tuple[list[int], int]:
        """The positions of the rows in view, and how many fit in all."""
        fitting = self.fitting_rows
        at = min(self.at, max(len(fitting) - 1, 0))
        start = max(0, min(at - rows // 2, len(fitting) - rows))
        return fitting[start : start + rows], len(fitting)
