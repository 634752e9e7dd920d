"""Draws finished pieces and the live view as text with colours: values in, text out.

Finished pieces are not truncated to the width, so that they survive a resize and can be copied. The
live view is truncated, because its height must be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.utils import get_cwidth

from ..shared.clean_text import one_line, only_colour, printable, visible, visible_line
from .pieces import (
    MOST_CHANGED,
    ApprovalQuestion,
    ChangedLine,
    FinishedCall,
    FoldedThought,
    Listing,
    LiveView,
    Notice,
    Piece,
    Prose,
    Rows,
    RunningCall,
    UserWords,
)
from .theme import Theme

if TYPE_CHECKING:
    from .markdown import MarkdownDrawer


class Drawing:
    """Draws for one terminal; its width may change."""

    def __init__(self, theme: Theme, width: int = 80, opens: str = "ctrl+o opens") -> None:
        self.theme = theme
        self.opens = opens  # how the user opens what is folded
        self.width = width
        self.wraps = True  # whether messages are broken into lines; not where a program reads them
        self._markdown: dict[int, MarkdownDrawer] = {}

    def set_width(self, width: int) -> None:
        self.width = width

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._markdown.clear()

    # Finished pieces

    def piece(self, piece: Piece) -> str:
        """The piece as lines, with an empty line before it unless it continues another."""
        gap = "" if isinstance(piece, Prose | Listing | Notice) and piece.follows else "\n"
        return gap + only_colour("\n".join(self._lines(piece))) + "\n"

    def _lines(self, piece: Piece) -> Iterable[str]:
        match piece:
            case UserWords(text):
                return self._user_lines(text)
            case Prose(text):
                return [self._markdown_drawer().prose(printable(text))]
            case Listing(code, language):
                return self._code_lines(printable(code), language)
            case FoldedThought():
                return self._thought_lines(piece)
            case FinishedCall():
                return self._finished_call_lines(piece)
            case Notice(text, tone):
                lines = self._wrapped_lines(printable(text))
                return [self._paint_line(line, tone) for line in lines]
            case Rows():
                return self._table_lines(piece)
            case ApprovalQuestion():
                return self._question_lines(piece)

    def _user_lines(self, text: str) -> Iterator[str]:
        sign = self.theme.signs.user
        for at, line in enumerate(self._wrapped_lines(printable(text), 2)):
            yield self.theme.paint(f"{sign if not at else ' '} {line}", "user")

    def _wrapped_lines(self, text: str, margin: int = 0) -> Iterator[str]:
        """The lines of a text, broken between words; a line keeps its indentation."""
        for line in text.split("\n"):
            yield from wrap_words(line, self.width - margin) if self.wraps else [line]

    def _code_lines(self, code: str, language: str) -> list[str]:
        """Code is indented and not truncated: the terminal wraps long lines, so they can be copied whole."""
        if self.theme.colour:
            from .highlight import highlight_code

            code = highlight_code(code, language, light=self.theme.name == "light")
        return [f"  {line}" if line else "" for line in code.split("\n")]

    def _thought_lines(self, thought: FoldedThought) -> Iterator[str]:
        sign = self.theme.signs.thought
        how_long = f" for {thought.seconds:.0f} s" if thought.seconds >= 1 else ""
        hint = "" if thought.open else f" ({self.opens.replace('them', 'it')})"
        yield self.theme.paint(f"{sign} thought{how_long}{hint}", "dim")
        if thought.open:
            lines = self._wrapped_lines(printable(thought.text), 2)
            yield from (self.theme.paint(f"  {line}", "dim") for line in lines)

    def _finished_call_lines(self, used: FinishedCall) -> Iterator[str]:
        signs, paint = self.theme.signs, self.theme.paint
        done = used.status == "complete"
        sign = paint(signs.call, "good") if done else paint(signs.failed, "bad")
        took = f" {used.seconds:.1f} s" if used.seconds >= 1 else ""
        state = "" if done else f" {used.status}"
        head = f"{sign} {paint(visible(used.name), 'bold')} {visible(used.subject)}"
        yield f"{head}{paint(state, 'bad')}{paint(took, 'dim')}"
        for at, line in enumerate(used.lines):
            yield paint(f"  {signs.result if not at else ' '} {printable(line)}", "dim")
        if used.more:
            lead, further = ("   ", "more ") if used.lines else (f"  {signs.result}", "")
            how = f" ({self.opens})" if used.lines else ""  # the whole file is of little use to the user
            yield paint(f"{lead} {used.more:,} {further}{_lines_word(used.more)}{how}", "dim")
        shown = used.change if used.open else used.change[:MOST_CHANGED]
        yield from self._change_lines(shown)
        if len(shown) < len(used.change):
            more = len(used.change) - len(shown)
            yield paint(f"    {more:,} more {_lines_word(more)} ({self.opens})", "dim")

    def _change_lines(self, lines: Sequence[ChangedLine]) -> Iterator[str]:
        size = max((len(str(line.number)) for line in lines if line.number), default=0)
        for line in lines:
            if line.sign == "~":
                yield self.theme.paint(f"    {' ' * size} {self.theme.signs.ellipsis}", "dim")
                continue
            number = f"{line.number or '':>{size}}" if size else ""
            text = f"    {number} {line.sign} {visible_line(line.text)}"
            tone = {"+": "good", "-": "bad"}.get(line.sign)
            yield self.theme.paint(text, tone) if tone else text

    def _table_lines(self, rows: Rows) -> Iterator[str]:
        if rows.title:
            yield self.theme.paint(rows.title, "bold")
        width = max((get_cwidth(name) for name, text in rows.rows if text), default=0)
        room = self.width - width - 5
        for name, text in rows.rows:
            pad = " " * (width - get_cwidth(name))
            lead = f"  {self.theme.paint(printable(name), 'accent')}"
            if room > 20 or not text:
                first, *rest = wrap_words(printable(text), room) if text else [""]
                yield f"{lead}{pad}  {first}".rstrip()
                yield from (f"{' ' * (width + 4)}{line}" for line in rest)
            else:  # a narrow terminal: the text goes below its name
                yield lead
                yield from (f"      {line}" for line in wrap_words(printable(text), self.width - 6))

    def _question_lines(self, question: ApprovalQuestion) -> Iterator[str]:
        paint, bar = self.theme.paint, self.theme.paint(self.theme.signs.bar, "risk")
        yield f"{bar} {paint(f'{visible(question.tool)} wants to run', 'risk')}"
        for line in self._wrapped_lines(f"{question.risk}: {visible(question.why)}", 2):
            yield f"{bar} {paint(line, 'dim')}"
        if question.problem:
            yield from (f"{bar} {paint(line, 'bad')}" for line in visible(question.problem).split("\n"))
        for line in visible(question.subject).split("\n") if question.subject else ():
            yield f"{bar}   {paint(line, 'bold')}"
        yield from (f"{bar}   {visible_line(line)}" for line in question.details)
        yield from (f"{bar} {line}" for line in self._change_lines(question.change))

    def _paint_line(self, line: str, tone: str) -> str:
        return line if tone == "plain" else self.theme.paint(line, tone)

    def _markdown_drawer(self) -> MarkdownDrawer:
        if self.width not in self._markdown:
            from .markdown import MarkdownDrawer

            self._markdown = {self.width: MarkdownDrawer(self.theme, self.width)}
        return self._markdown[self.width]

    # The live view

    def live(self, live: LiveView, rows: int) -> str:
        """The live view in at most this many rows; the oldest lines are left out."""
        lines = [*self._tail_lines(live, rows), *self._thinking_lines(live)]
        for call in live.calls:
            lines += self._running_call_lines(call)
        lines += [
            self.theme.paint(self._fit_line(f"  queued: {one_line(text)}"), "dim") for text in live.queued
        ]
        if live.busy:
            lines.append(self._activity_line(live))
        return only_colour("\n".join(lines[-max(rows, 1) :]))

    def _tail_lines(self, live: LiveView, rows: int) -> Iterator[str]:
        """The part of an answer that still grows. Code is truncated, so that the height is known."""
        for part in live.tail:
            if isinstance(part, Listing):
                cut = [
                    self._fit_line(line)[: self.width - 3]
                    for line in printable(part.code).split("\n")[-rows:]
                ]
                part = Listing("\n".join(cut), part.language, part.follows)
            yield from self.piece(part).rstrip("\n").split("\n")

    def _thinking_lines(self, live: LiveView) -> Iterator[str]:
        if live.thinking:
            line = one_line(live.thinking[-self.width :], self.width)
            yield self.theme.paint(self._fit_line(f"{self.theme.signs.thought} {line}"), "dim")

    def _running_call_lines(self, call: RunningCall) -> Iterator[str]:
        paint, signs = self.theme.paint, self.theme.signs
        share = f" {call.fraction:.0%}" if call.fraction is not None else ""
        took = f" {call.seconds:.0f} s" if call.seconds >= 1 and call.state == "running" else ""
        name, tail = one_line(call.name), f" {signs.dot} {call.state}{share}{took}"
        room = self.width - get_cwidth(name) - get_cwidth(tail) - 4
        subject = fit_columns(one_line(visible(call.subject), 400), max(room, 0), signs.ellipsis)
        spin = self._spinner_at(call.seconds)
        if room >= 0:
            yield f"{spin} {paint(name, 'bold')} {subject}{paint(tail, 'dim')}"
        else:
            yield self._fit_line(f"{spin} {name}{tail}")
        for line in call.lines:
            yield paint(self._fit_line(f"    {one_line(line)}"), "dim")

    def _activity_line(self, live: LiveView) -> str:
        spin, dot = self._spinner_at(live.seconds), self.theme.signs.dot
        text = f"{spin} {live.doing} {live.seconds:.0f} s {dot} esc interrupts"
        return self.theme.paint(self._fit_line(text), "dim")

    def _spinner_at(self, seconds: float) -> str:
        letters = self.theme.signs.spinner
        return letters[int(seconds * 5) % len(letters)]

    def _fit_line(self, line: str) -> str:
        return fit_columns(line, self.width - 1, self.theme.signs.ellipsis)


def wrap_words(line: str, width: int) -> list[str]:
    """The line in lines of at most this many columns. Only a word that is wider than that is broken."""
    if get_cwidth(line) <= width or width < 8:
        return [line]
    indent = " " * min(len(line) - len(line.lstrip(" ")), width // 2)
    lines, current = [], indent
    for word in line.split(" "):
        if not word and current == indent:
            continue
        longer = f"{current}{'' if current == indent else ' '}{word}"
        if get_cwidth(longer) > width and current != indent:
            lines.append(current)
            longer = f"{indent}{word}"
        current = longer
    return [*lines, current]


def _lines_word(count: int) -> str:
    return "line" if count == 1 else "lines"


def fit_columns(line: str, width: int, ellipsis: str) -> str:
    """The line in at most this many columns of a terminal."""
    if get_cwidth(line) <= width:
        return line
    room, kept = width - get_cwidth(ellipsis), 0
    for at, letter in enumerate(line):
        kept += get_cwidth(letter)
        if kept > room:
            return line[:at] + ellipsis if room > 0 else ""
    return line
