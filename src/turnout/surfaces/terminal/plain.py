"""The conversation as plain lines, for dumb terminals and pipes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from threading import Thread
from typing import TextIO

from ...tools.policy.approval import ApprovalRequest, Decision
from ..shared.clean_text import only_colour, printable
from ..shared.signals import handling_signals
from .approval_question import CHOICES, EDIT, NO, decision
from .drawing import Drawing
from .picker import PickRow
from .pieces import ApprovalQuestion, Notice, Piece, Rows, UserWords
from .talk import Talk
from .theme import Theme

WIDTH = 80
MOST_ROWS = 30
"""Rows of a list that are printed."""


class Plain:
    """Shows a conversation as lines, without the live view. A question is answered by the next line."""

    def __init__(self, talk: Talk, look: Theme, stdin: TextIO, stdout: TextIO) -> None:
        self.talk = talk
        talk.edge = self
        self.drawing = Drawing(look, _columns(stdout), opens="/open shows them")
        self.drawing.wraps = stdout.isatty()
        self._stdin = stdin
        self._stdout = stdout
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._over = False

    has_keys = False

    @property
    def width(self) -> int:
        return self.drawing.width

    async def converse(self, first: str = "") -> None:
        with (
            handling_signals(self._interrupt_or_leave, "SIGINT"),
            handling_signals(self.leave, "SIGTERM", "SIGHUP"),
        ):
            # A daemon thread, since a read from a terminal may never end.
            Thread(target=self._read_lines, args=(asyncio.get_running_loop(),), daemon=True).start()
            try:
                if first:
                    self.talk.take_line(first)
                await self._hear_lines()
            finally:
                await self.talk.leave()

    async def _hear_lines(self) -> None:
        """Send one line after the other, each when the one before it is done."""
        while not self._over:
            await self.talk.wait_until_idle()
            self._prompt()
            line = await self._lines.get()
            if line is None:
                return
            self.talk.take_line(line)
            await self.talk.wait_until_idle()

    def _read_lines(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed
            with suppress(ValueError, OSError):  # the input is closed
                for line in _typed_lines(self._stdin):
                    loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\r\n"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _prompt(self) -> None:
        if self._stdin.isatty():
            self._write_text(f"{self.drawing.theme.signs.user} ")

    def _interrupt_or_leave(self) -> None:
        if not self.talk.interrupt():
            self.leave()

    def show(self, *pieces: Piece) -> None:
        for piece in pieces:
            if not isinstance(piece, UserWords):
                self._write_text(self.drawing.piece(piece))

    def refresh(self) -> None:
        return

    async def ask(self, request: ApprovalRequest, question: ApprovalQuestion) -> Decision:
        while True:
            self._write_text(
                " ".join(f"[{choice.key}] {choice.word}" for choice in CHOICES if choice is not EDIT) + " "
            )
            line = await self._lines.get()
            if line is None:
                self._lines.put_nowait(None)
                return request.no("the input is closed, so the question cannot be answered")
            key, _, why = line.strip().partition(" ")
            for choice in CHOICES:
                if key.lower() == choice.key and choice is not EDIT:
                    return decision(request, choice, why if choice is NO else "")

    async def inquire(self, label: str, *, secret: bool = False) -> str | None:
        self._write_text(f"{label}: ")
        with hidden_typing(self._stdin) if secret else nullcontext():
            line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line.strip() if line and line.strip() else None

    async def pick(self, title: str, rows: Sequence[PickRow], at: int = 0) -> int | None:
        """Numbered rows. Only a person is asked for a number: a script gives the name with the command."""
        numbered = [(str(number), f"{row.name}  {row.detail}".rstrip()) for number, row in enumerate(rows, 1)]
        self.show(Rows(tuple(numbered[:MOST_ROWS]), title))
        if not self._stdin.isatty():
            return None
        typed = await self.inquire("number (enter: none)") or ""
        if typed.isdigit() and 1 <= int(typed) <= len(rows):
            return int(typed) - 1
        fitting = [place for place, row in enumerate(rows) if row.fits(typed.lower().split())]
        return fitting[0] if typed and len(fitting) == 1 else None

    def copy_text(self, text: str) -> bool:
        return False

    def put_back(self, text: str) -> None:
        self.show(Notice(printable(f"not sent: {text}")))

    def set_theme(self, name: str) -> None:
        return

    def leave(self) -> None:
        self._over = True
        self.talk.interrupt()
        self._lines.put_nowait(None)

    def _write_text(self, text: str) -> None:
        with suppress(OSError):
            self._stdout.write(only_colour(text))
            self._stdout.flush()


@contextmanager
def hidden_typing(stdin: TextIO) -> Iterator[None]:
    """Switch off the echo of a terminal, for a secret."""
    try:
        import termios

        before = termios.tcgetattr(stdin.fileno())
    except (ImportError, OSError, ValueError, termios.error):
        yield
        return
    hidden = [*before]
    hidden[3] &= ~termios.ECHO
    termios.tcsetattr(stdin.fileno(), termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(stdin.fileno(), termios.TCSADRAIN, before)


def _columns(stdout: TextIO) -> int:
    try:
        return os.get_terminal_size(stdout.fileno()).columns or WIDTH
    except (OSError, ValueError):  # not a terminal
        return WIDTH


def _typed_lines(stdin: TextIO) -> Iterator[str]:
    """The typed lines, read from a file object of our own: Python locks `stdin` when the program ends."""
    try:
        descriptor = stdin.fileno()
    except (OSError, ValueError):  # not a real file
        yield from stdin
        return
    with open(descriptor, encoding=stdin.encoding, errors="replace", closefd=False) as lines:
        yield from lines
