"""The lines at the bottom of the screen, drawn by the real layout of a terminal."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.application import set_app
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout.mouse_handlers import MouseHandlers
from prompt_toolkit.layout.screen import Screen, WritePosition
from tests.surfaces.cli.oneshot import standing_in
from tests.surfaces.places import user

from turnout.surfaces.shared.open_session import SessionArguments, configuration
from turnout.surfaces.terminal.approval_question import ALWAYS, EDIT, NO, AnswerChoice, question_of
from turnout.surfaces.terminal.bottom import MOST_INPUT_ROWS
from turnout.surfaces.terminal.inquiry import Inquiry
from turnout.surfaces.terminal.opener import Opener
from turnout.surfaces.terminal.question_line import QuestionLine, Silence
from turnout.surfaces.terminal.talk import Talk
from turnout.surfaces.terminal.terminal import Terminal
from turnout.surfaces.terminal.theme import Theme
from turnout.tools.policy.approval import ApprovalRequest

MODEL = "openai:gpt-4o"
COLUMNS, ROWS = 100, 30


def with_terminal(place: Path, look: Callable[[Terminal], None]) -> None:
    """Look at a terminal of a session that has not sent anything."""
    nobody = user(place, "http://127.0.0.1:9")
    wanted = SessionArguments(model=MODEL, stored=False)

    async def open_and_look() -> None:
        talk = Talk(Opener(wanted, configuration(wanted)), MODEL)
        with create_pipe_input() as keys:
            terminal = Terminal(talk, Theme(colour=False), InMemoryHistory(), io.StringIO(), keys)
            try:
                with set_app(terminal.app):
                    look(terminal)
            finally:
                if terminal.asked is not None:
                    terminal.asked.close()
                await talk.leave()

    with standing_in(nobody, nobody.folder):
        asyncio.run(open_and_look())


def drawn(terminal: Terminal) -> list[str]:
    """The lines that the layout writes, as many as it prefers."""
    container, screen = terminal.bottom.container, Screen()
    height = container.preferred_height(COLUMNS, ROWS).preferred
    container.write_to_screen(screen, MouseHandlers(), WritePosition(0, 0, COLUMNS, height), "", True, None)
    screen.draw_all_floats()
    rows = [screen.data_buffer[row] for row in range(height)]
    return ["".join(row[column].char for column in range(COLUMNS)).rstrip() for row in rows]


def ask(terminal: Terminal, command: str = "touch made") -> QuestionLine:
    request = ApprovalRequest("c1", "shell", {"command": command}, "risky", "ask mode asks")
    question = question_of(request, lambda path: None)
    terminal.asked = QuestionLine(
        request, question, terminal.buffer, Silence(terminal.buffer), terminal.refresh
    )
    return terminal.asked


def test_the_status_line_is_last(tmp_path: Path) -> None:
    """Without work there are an empty line, the input line and the status line, and no live view."""

    def look(terminal: Terminal) -> None:
        terminal.buffer.insert_text("hello")
        gap, line, status = drawn(terminal)
        assert (gap, line) == ("", "❯ hello")
        assert status.startswith(f" {MODEL} · ") and "ask" in status

    with_terminal(tmp_path, look)


def test_the_live_view_is_above_the_input(tmp_path: Path) -> None:
    """It takes the rows that it needs, and none when it is empty."""

    def look(terminal: Terminal) -> None:
        terminal.live = "one\ntwo"
        assert drawn(terminal)[:4] == ["one", "two", "", "❯"]

    with_terminal(tmp_path, look)


def test_further_lines_of_the_input_are_indented(tmp_path: Path) -> None:
    """The sign of the prompt is before the first line only."""

    def look(terminal: Terminal) -> None:
        terminal.buffer.insert_text("one\ntwo")
        assert drawn(terminal)[1:3] == ["❯ one", "  two"]

    with_terminal(tmp_path, look)


def test_a_question_asks_for_a_pause_before_it_shows_its_keys(tmp_path: Path) -> None:
    """The keys are not shown while they would still go into the input line."""

    def look(terminal: Terminal) -> None:
        ask(terminal)
        assert "stop typing for a second, then answer the question" in drawn(terminal)[1]

    with_terminal(tmp_path, look)


@pytest.mark.parametrize(("command", "offers_tab"), [("touch made", True), ("ls\npwd", False)])
def test_a_lasting_yes_shows_what_it_covers(tmp_path: Path, command: str, offers_tab: bool) -> None:
    """Tab is offered only if the call is a command of one line, which can become a pattern."""

    def look(terminal: Terminal) -> None:
        ask(terminal, command).pick(ALWAYS)
        line = drawn(terminal)[1]
        assert line.startswith(" [a] always here: exactly this call  enter confirms")
        assert ("tab edits which commands" in line) is offers_tab

    with_terminal(tmp_path, look)


@pytest.mark.parametrize(
    ("choice", "label"), [(NO, "why not (enter: no reason)"), (EDIT, "arguments {")], ids=["no", "edit"]
)
def test_the_words_of_an_answer_have_a_label(tmp_path: Path, choice: AnswerChoice, label: str) -> None:
    """The label replaces the sign of the prompt, and the choices are hidden."""

    def look(terminal: Terminal) -> None:
        asked = ask(terminal)
        asked.pick(choice)
        asked.confirm()
        assert drawn(terminal)[1] == label

    with_terminal(tmp_path, look)


def test_an_inquiry_has_its_own_label(tmp_path: Path) -> None:
    """A question that is answered in words shows its label before the input."""

    def look(terminal: Terminal) -> None:
        terminal.inquiry = Inquiry("yes to confirm", asyncio.get_running_loop().create_future())
        assert drawn(terminal)[1] == "yes to confirm"

    with_terminal(tmp_path, look)


def test_the_live_view_gets_the_rows_that_are_left(tmp_path: Path) -> None:
    """A long input takes at most `MOST_INPUT_ROWS`; the choices of a question take rows by their width."""

    def look(terminal: Terminal) -> None:
        assert terminal.bottom.room(COLUMNS, ROWS) == ROWS - 4
        terminal.buffer.insert_text("\n" * 50)
        assert terminal.bottom.room(COLUMNS, ROWS) == ROWS - 3 - MOST_INPUT_ROWS
        terminal.buffer.reset()
        ask(terminal)
        assert terminal.bottom.room(COLUMNS, ROWS) == ROWS - 5
        assert terminal.bottom.room(26, ROWS) == ROWS - 6

    with_terminal(tmp_path, look)
