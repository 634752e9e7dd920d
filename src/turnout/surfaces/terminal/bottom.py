"""The lines at the bottom of the screen: the live view, a question or the input line, the status line."""

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
from prompt_toolkit.layout.processors import ConditionalProcessor, PasswordProcessor
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.widgets import SearchToolbar

from ..shared.clean_text import visible
from .approval_question import ALWAYS, CHOICES, EDIT, NO, SESSION, pattern_of
from .drawing import fit_columns, wrap_words
from .jobs_panel import job_lines
from .status_line import status_line

if TYPE_CHECKING:
    from .approval_question import AnswerChoice
    from .question_line import QuestionLine
    from .terminal import Terminal

LABELS = {NO.key: "why not (enter: no reason)", EDIT.key: "arguments"}
"""The prompt before the words of an answer, if it differs from the name of the choice."""

MENU_ROWS = 8
MOST_INPUT_ROWS = 10
AROUND = 3
"""Rows beside the live view and the question or input: two gaps and the status line."""


class Bottom:
    """The windows of a terminal, and their heights."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.choices = Window(FormattedTextControl(self._choices), dont_extend_height=True, wrap_lines=True)
        self.container = self._container()

    def room(self, columns: int, rows: int) -> int:
        """Rows that are left for the live view."""
        below = min(self._terminal.buffer.document.line_count, MOST_INPUT_ROWS)
        if self._shows_choices:
            lines = "".join(text for _, text in self._choices()).split("\n")
            below += sum(max(-(-get_cwidth(line) // max(columns, 1)), 1) for line in lines)
        if self._terminal.picking is not None:
            below += len(self._terminal.picking.picker.window()[0]) + 2
        below += len(self._job_lines())
        return rows - AROUND - below

    @property
    def _shows_choices(self) -> bool:
        return self._terminal.asked is not None and self._terminal.asked.words_for is None

    def _container(self) -> FloatContainer:
        terminal = self._terminal
        live = Window(FormattedTextControl(lambda: ANSI(terminal.live)), dont_extend_height=True)
        search = SearchToolbar()
        status = Window(FormattedTextControl(self._status), height=1, style="class:status")
        rows = HSplit(
            [
                ConditionalContainer(live, Condition(lambda: bool(terminal.live))),
                Window(height=1),
                ConditionalContainer(
                    Window(FormattedTextControl(self._jobs), dont_extend_height=True),
                    Condition(lambda: bool(terminal.talk.job_views())),
                ),
                ConditionalContainer(self.choices, Condition(lambda: self._shows_choices)),
                ConditionalContainer(
                    Window(FormattedTextControl(self._rows), dont_extend_height=True),
                    Condition(lambda: terminal.picking is not None),
                ),
                self._entry(search),
                search,
                status,
            ]
        )
        menu = CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1)
        return FloatContainer(rows, [Float(menu, xcursor=True, ycursor=True)])

    def _entry(self, search: SearchToolbar) -> Window:
        control = BufferControl(
            self._terminal.buffer,
            input_processors=[ConditionalProcessor(PasswordProcessor(), Condition(self._hides_typing))],
            search_buffer_control=search.control,
            preview_search=True,
        )
        return Window(
            control,
            height=self._input_height,
            get_line_prefix=self._prefix,
            wrap_lines=True,
            dont_extend_height=True,
        )

    def _hides_typing(self) -> bool:
        return self._terminal.inquiry is not None and self._terminal.inquiry.secret

    def _input_height(self) -> Dimension:
        """Rows for the input, and below it for a menu while it is open."""
        lines = min(self._terminal.buffer.document.line_count, MOST_INPUT_ROWS)
        if self._terminal.completes:
            return Dimension(min=1, preferred=lines + MENU_ROWS)
        return Dimension(min=1, max=MOST_INPUT_ROWS)

    def _prefix(self, number: int, wrapped: int) -> AnyFormattedText:
        terminal = self._terminal
        if number or wrapped:
            return "  "
        if terminal.asked is not None and terminal.asked.words_for is not None:
            return [
                (
                    "class:prompt",
                    f"{LABELS.get(terminal.asked.words_for.key, terminal.asked.words_for.word)} ",
                )
            ]
        if terminal.picking is not None:
            return [("class:prompt", "search ")]
        if terminal.inquiry is not None:
            return [("class:prompt", f"{terminal.inquiry.label} ")]
        return [("class:prompt", f"{terminal.drawing.theme.signs.user} ")]

    def _choices(self) -> list[Any]:
        asked = self._terminal.asked
        if asked is None:
            return []
        if asked.picked in (SESSION, ALWAYS):
            return self._confirmation(asked, asked.picked)
        if not asked.hears:
            return [("class:status", " stop typing for a second, then answer the question")]
        used, width = 0, self._terminal.width
        words = [(choice, f" {self._wrapped_choice(asked, choice, width)} ") for choice in CHOICES]
        parts: list[Any] = []
        for choice, text in words:
            size = width if "\n" in text else get_cwidth(f" [{choice.key}]{text}")
            if used and used + size > width:  # a line ends between two choices
                parts.append(("", "\n"))
                used = 0
            used += size
            style = "reverse" if choice is asked.picked else ""
            parts += [("class:prompt", f" [{choice.key}]"), (style, text)]
        return [*parts, *([("", "\n")] if used + 15 > width else []), ("class:status", " esc interrupts")]

    def _confirmation(self, asked: QuestionLine, choice: AnswerChoice) -> list[Any]:
        keys = "enter confirms, esc goes back"
        if pattern_of(asked.request) is not None:
            keys = "enter confirms, tab edits which commands, esc goes back"
        covered = f" {choice.word}: {visible(asked.question.covers)} "
        return [("class:prompt", f" [{choice.key}]"), ("", covered), ("class:status", f" {keys}")]

    def _wrapped_choice(self, asked: QuestionLine, choice: AnswerChoice, width: int) -> str:
        """The words of a choice. Where they need several lines, these end between two words."""
        words = self._choice_words(asked, choice)
        if get_cwidth(words) + 6 <= width:
            return words
        return "\n     ".join(wrap_words(words, max(width - 6, 8)))

    def _choice_words(self, asked: QuestionLine, choice: AnswerChoice) -> str:
        return f"{choice.word} ({visible(asked.question.covers)})" if choice is ALWAYS else choice.word

    def _rows(self) -> list[Any]:
        """The list that is open: its title, the rows in view, and the keys."""
        terminal = self._terminal
        if terminal.picking is None:
            return []
        picker, signs, width = terminal.picking.picker, terminal.drawing.theme.signs, terminal.width - 1
        places, count = picker.window()
        rows = [picker.rows[place] for place in places]
        column = min(max((get_cwidth(row.name) for row in rows), default=0), max(width * 3 // 5, 12))
        parts: list[Any] = [
            ("class:prompt", fit_columns(f" {picker.title}", width, signs.ellipsis)),
            ("", "\n"),
        ]
        for place, row in zip(places, rows, strict=True):
            chosen = place == picker.chosen_row
            name = fit_columns(visible(row.name), column, signs.ellipsis)
            lead = f" {signs.user if chosen else ' '} {name}{' ' * (column - get_cwidth(name))}"
            room = width - get_cwidth(lead) - 2
            detail = f"  {_fitting_parts(visible(row.detail), room - 2)}" if room > 8 else ""
            parts += [("class:prompt" if chosen else "", lead), ("class:status", detail), ("", "\n")]
        found = f"{count} of {len(picker.rows)}" if count else "nothing fits"
        keys = f"   {found} {signs.dot} enter picks {signs.dot} esc leaves"
        return [*parts, ("class:status", fit_columns(keys, width, signs.ellipsis))]

    def _job_lines(self) -> list[str]:
        terminal = self._terminal
        return job_lines(terminal.talk.job_views(), terminal.width - 1, terminal.drawing.theme.signs.ellipsis)

    def _jobs(self) -> AnyFormattedText:
        return [("class:status", "\n".join(self._job_lines()))]

    def _status(self) -> AnyFormattedText:
        terminal = self._terminal
        return status_line(terminal.talk.status_facts, terminal.width, terminal.drawing.theme.signs.dot)


def _fitting_parts(detail: str, room: int) -> str:
    """As many parts of a detail as fit; a price that is cut in two says nothing."""
    parts = detail.split(" · ")
    while len(parts) > 1 and get_cwidth(" · ".join(parts)) > room:
        parts.pop()
    return fit_columns(" · ".join(parts), max(room, 0), "…")


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
