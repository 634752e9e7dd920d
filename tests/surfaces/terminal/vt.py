"""A terminal in memory: fed the bytes of a program, it tells what a person would see.

It knows the sequences that our own drawing needs and no other; whatever else arrives is
kept in `strange`, so that a test can say that nothing steers the terminal but us.
"""

from __future__ import annotations

import re
import unicodedata

_SEQUENCE = re.compile(r"\x1b(?:\[([0-?]*)([ -/]*)([@-~])|([\]PX^_])|(.))", re.DOTALL)
_COPY = re.compile(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
_MODES = {"25", "7", "12", "2004", "1"}
"""Cursor shown, wrapping, blinking, bracketed paste, cursor keys: what an input line switches."""


class Terminal:
    """A screen of so many columns and rows, and the lines that have scrolled out of it."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.cells: list[list[str]] = [self._blank() for _ in range(rows)]
        self.scrolled: list[str] = []
        self.strange: list[str] = []
        self.copied: list[str] = []  # what the program put into the clipboard, in base64
        self.x = self.y = 0
        self._rest = ""

    def _blank(self) -> list[str]:
        return [" "] * self.columns

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.cells]

    @property
    def screen(self) -> str:
        """What is on the screen now."""
        return "\n".join(self.lines).rstrip("\n")

    @property
    def text(self) -> str:
        """Everything since the start, scrolled out or not."""
        return "\n".join([*self.scrolled, *self.lines]).rstrip("\n")

    def resize(self, columns: int, rows: int) -> None:
        while len(self.cells) > rows:
            self.scrolled.append("".join(self.cells.pop(0)).rstrip())
            self.y = max(0, self.y - 1)
        self.columns, self.rows = columns, rows
        self.cells = [(row + self._blank())[:columns] for row in self.cells]
        self.cells += [self._blank() for _ in range(rows - len(self.cells))]
        self.x = min(self.x, columns - 1)

    def feed(self, text: str) -> None:
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._letter(text[at])
                at += 1
                continue
            if (copied := _COPY.match(text, at)) is not None:
                self.copied.append(copied[1])
                at = copied.end()
                continue
            if text.startswith("\x1b]52", at) and "\x07" not in text[at:]:
                self._rest = text[at:]
                return
            found = _SEQUENCE.match(text, at)
            if found is None:
                self._rest = text[at:]
                return
            self._steered(found)
            at = found.end()

    def _letter(self, letter: str) -> None:
        match letter:
            case "\n":
                self._down()
            case "\r":
                self.x = 0
            case "\b":
                self.x = max(0, self.x - 1)
            case "\t":
                self.x = min(self.columns - 1, self.x // 8 * 8 + 8)
            case _ if unicodedata.category(letter) == "Cc":
                self.strange.append(letter)
            case _:
                self._put(letter)

    def _put(self, letter: str) -> None:
        width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if unicodedata.combining(letter):
            return
        if self.x + width > self.columns:
            self.x = 0
            self._down()
        self._part(self.x)
        self.cells[self.y][self.x] = letter
        if width == 2 and self.x + 1 < self.columns:
            self.cells[self.y][self.x + 1] = ""
        self.x += width

    def _down(self) -> None:
        if self.y + 1 < self.rows:
            self.y += 1
            return
        self.scrolled.append("".join(self.cells.pop(0)).rstrip())
        self.cells.append(self._blank())

    def _steered(self, found: re.Match[str]) -> None:
        parameters, between, final = found[1] or "", found[2], found[3]
        number = int(parameters) if parameters.isdigit() else 1
        match final:
            case "m":
                if not re.fullmatch(r"[0-9;]*", parameters):
                    self.strange.append(found[0])
            case "A":
                self.y = max(0, self.y - number)
            case "B":
                self.y = min(self.rows - 1, self.y + number)
            case "C":
                self.x = min(self.columns - 1, self.x + number)
            case "D":
                self.x = max(0, min(self.x, self.columns - 1) - number)
            case "J" if parameters in ("", "0"):
                self._erase_line()
                for row in range(self.y + 1, self.rows):
                    self.cells[row] = self._blank()
            case "K" if parameters in ("", "0"):
                self._erase_line()
            case "h" | "l" if parameters.startswith("?") and parameters[1:] in _MODES:
                pass
            case "q" if between == " ":
                pass
            case _:
                self.strange.append(found[0])

    def _part(self, x: int) -> None:
        """Half of a wide letter is none."""
        if 0 < x < self.columns and self.cells[self.y][x] == "":
            self.cells[self.y][x - 1] = " "

    def _erase_line(self) -> None:
        x = min(self.x, self.columns)
        self._part(x)
        self.cells[self.y][x:] = [" "] * (self.columns - x)
