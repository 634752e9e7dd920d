"""The lines at the bottom that never go away: what moves, a question or the input line, the status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.widgets import SearchToolbar

from ..clean import visible
from .asking import CHOICES, EDIT, NO
from .statusline import status_line

if TYPE_CHECKING:
    from .terminal import Terminal

MENU_ROWS = 8
MOST_INPUT_ROWS = 10
AROUND = 3
"""Rows that are neither what moves nor the question or the input: two gaps and the status."""


class Bottom:
    """The windows of a terminal, and how high they are."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.choices = Window(
            FormattedTextControl(self._choices, focusable=True), dont_extend_height=True, wrap_lines=True
        )
        self.container = self._container()

    def room(self, columns: int, rows: int) -> int:
        """Rows that are left for what moves."""
        below = min(self._terminal.buffer.document.line_count, MOST_INPUT_ROWS)
        if self._terminal.choosing:
            letters = sum(get_cwidth(text) for _, text in self._choices())
            below = -(-letters // max(columns, 1))
        return rows - AROUND - below

    def _container(self) -> FloatContainer:
        terminal = self._terminal
        live = Window(FormattedTextControl(lambda: ANSI(terminal.live)), dont_extend_height=True)
        choosing = Condition(lambda: terminal.choosing)
        search = SearchToolbar()
        status = Window(FormattedTextControl(self._status), height=1, style="class:status")
        rows = HSplit(
            [
                ConditionalContainer(live, Condition(lambda: bool(terminal.live))),
                Window(height=1),
                ConditionalContainer(self.choices, choosing),
                ConditionalContainer(self._entry(search), ~choosing),
                search,
                status,
            ]
        )
        menu = CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1)
        return FloatContainer(rows, [Float(menu, xcursor=True, ycursor=True)])

    def _entry(self, search: SearchToolbar) -> Window:
        control = BufferControl(
            self._terminal.buffer, search_buffer_control=search.control, preview_search=True
        )
        return Window(
            control,
            height=self._input_height,
            get_line_prefix=self._prefix,
            wrap_lines=True,
            dont_extend_height=True,
        )

    def _input_height(self) -> Dimension:
        """Room for the lines, and below them for a menu while it is open."""
        lines = min(self._terminal.buffer.document.line_count, MOST_INPUT_ROWS)
        if self._terminal.completes:
            return Dimension(min=1, preferred=lines + MENU_ROWS)
        return Dimension(min=1, max=MOST_INPUT_ROWS)

    def _prefix(self, number: int, wrapped: int) -> AnyFormattedText:
        terminal = self._terminal
        if number or wrapped:
            return "  "
        if terminal.asked is not None and terminal.asked.choice is NO:
            return [("class:prompt", "why not (enter: no reason) ")]
        if terminal.asked is not None and terminal.asked.choice is EDIT:
            return [("class:prompt", "arguments ")]
        if terminal.inquiry is not None:
            return [("class:prompt", f"{terminal.inquiry.label} ")]
        return [("class:prompt", f"{terminal.drawing.theme.signs.user} ")]

    def _choices(self) -> list[Any]:
        asked = self._terminal.asked
        if asked is None or not asked.heard:
            return [("class:status", f" {self._terminal.drawing.theme.signs.ellipsis}")]
        parts: list[Any] = []
        for choice in CHOICES:
            word = f"{choice.word} ({visible(asked.question.covers)})" if choice.key == "a" else choice.word
            parts += [("class:prompt", f" [{choice.key}]"), ("", f" {word} ")]
        return [*parts, ("class:status", " esc interrupts")]

    def _status(self) -> AnyFormattedText:
        terminal = self._terminal
        return status_line(terminal.talk.standing, terminal.width, terminal.drawing.theme.signs.dot)


STYLE = {
    "prompt": "ansicyan bold",
    "status": "ansibrightblack",
    "completion-menu": "bg:default default",
    "completion-menu.completion": "bg:default default",
    "completion-menu.completion.current": "reverse",
    "completion-menu.meta.completion": "bg:default ansibrightblack",
    "completion-menu.meta.completion.current": "bg:default ansibrightblack",
    "scrollbar.background": "bg:default",
    "scrollbar.button": "bg:ansibrightblack",
}
