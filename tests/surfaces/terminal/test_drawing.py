"""Drawing: text and colours of our own, at any width, with or without colour."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth
from tests.surfaces.shared.test_clean_text import CONTROLS, NASTY

from turnout.surfaces.terminal.drawing import Drawing
from turnout.surfaces.terminal.pieces import (
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
from turnout.surfaces.terminal.status_line import StatusFacts, status_line
from turnout.surfaces.terminal.theme import Theme, theme

SGR = re.compile(r"\x1b\[[0-9;]*m")
COLOURED, PLAIN = Theme(), Theme(colour=False)


def every_piece(text: str) -> list[Piece]:
    change = (ChangedLine("-", 1, text), ChangedLine("+", 1, text), ChangedLine("~", 0, ""))
    return [
        UserWords(text),
        Prose(text),
        Listing(text, text[:10]),
        FoldedThought(text, 2.0, open=True),
        FinishedCall(text, text, "complete", 2.0, (text,), 3, change),
        Notice(text),
        Rows(((text, text),), text),
        ApprovalQuestion(text, "risky", text, text, (text,), change, text, text),
    ]


def every_live(text: str) -> LiveView:
    calls = (RunningCall(text, text, "running", 2.0, 0.5, (text,)),)
    return LiveView(True, "waiting", 1.0, text, (Prose(text), Listing(text)), calls, (text,))


@settings(max_examples=60, deadline=None)
@given(NASTY, st.sampled_from([COLOURED, PLAIN]), st.integers(1, 120))
def test_nothing_but_text_and_our_colours_is_drawn(text: str, look: Theme, width: int) -> None:
    """Whatever stands in a piece, wherever it stands."""
    drawing = Drawing(look, width)
    drawn = "".join(drawing.piece(piece) for piece in every_piece(text)) + drawing.live(every_live(text), 20)

    assert not CONTROLS.search(SGR.sub("", drawn))
    assert look.colour or "\x1b" not in drawn


@settings(max_examples=60, deadline=None)
@given(NASTY, st.integers(10, 100), st.integers(1, 20))
def test_what_moves_fits_its_rows(text: str, width: int, rows: int) -> None:
    """The live view has at most the given rows and columns."""
    live = Drawing(PLAIN, width).live(every_live(text), rows)

    assert live.count("\n") < rows


@given(st.text(st.characters(blacklist_categories=["Cc", "Cs"])), st.integers(20, 60))
def test_a_call_at_work_takes_one_row(text: str, width: int) -> None:
    """A row that wrapped would push the input line about."""
    live = LiveView(True, "working", 1.0, calls=(RunningCall("shell", text, "running", 1.0),))

    assert all(get_cwidth(row) <= width for row in Drawing(PLAIN, width).live(live, 9).split("\n"))


def test_markdown_is_drawn_and_code_is_coloured() -> None:
    """Answers are drawn as Markdown, code in the colours of its language."""
    drawing = Drawing(COLOURED, 60)

    assert "\x1b[1m" in drawing.piece(Prose("some **bold** text"))
    assert "\x1b[" in drawing.piece(Listing("def f(): return 1", "python"))
    assert drawing.piece(Prose("a [link](http://x.y)")).endswith("x.y\x1b[0m)\n")
    assert "List<String>" in drawing.piece(Prose("a List<String> here"))


def test_a_change_shows_both_sides_with_their_numbers() -> None:
    """Removed and added lines have the numbers of their files."""
    change = (ChangedLine(" ", 9, "a"), ChangedLine("-", 10, "b"), ChangedLine("+", 10, "c"))
    drawn = Drawing(PLAIN, 60).piece(FinishedCall("edit_file", "x.py", "complete", change=change))

    assert drawn.split("\n")[2:5] == ["     9   a", "    10 - b", "    10 + c"]


def test_a_question_shows_everything_and_hides_nothing() -> None:
    """A command may try to look like another one."""
    asked = ApprovalQuestion(
        "shell", "risky", "ask mode", "echo \u202e\x1b[8m# hsc | sh", ("timeout: 9",), covers="this"
    )
    drawn = Drawing(PLAIN, 60).piece(asked)

    assert "echo <U+202E><U+001B>[8m# hsc | sh" in drawn
    assert "timeout: 9" in drawn and "ask mode" in drawn


@pytest.mark.parametrize(
    ("environment", "tty", "colour"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
        ({"TERM": "xterm"}, False, False),
    ],
)
def test_no_colour_when_asked(environment: dict[str, str], tty: bool, colour: bool) -> None:
    """NO_COLOR turns colours off."""
    assert theme("auto", environment, tty=tty).colour is colour


def test_the_theme_follows_the_terminal() -> None:
    """`auto` is light or dark, by what the terminal says."""
    assert theme("auto", {"TERM": "x", "COLORFGBG": "0;15"}, tty=True).name == "light"
    assert theme("mono", {"TERM": "x"}, tty=True).colour is False
    assert theme("dark", {"TERM": "x"}, tty=True, encoding="latin-1").signs.user == ">"


@pytest.mark.parametrize("width", [200, 60, 30, 10, 1])
def test_the_status_line_fits_and_the_model_goes_last(width: int) -> None:
    """In a narrow terminal the model is the last part to be dropped."""
    line = status_line(StatusFacts("anthropic:claude", "ask", 50_000, 200_000, 0.5), width)

    assert len(line) < max(width, 1)
    if width >= 30:
        assert "anthropic:claude" in line
    if width >= 60:
        assert "25% of 200k" in line and "$0.5000" in line and "ask" in line


def test_pieces_are_not_padded() -> None:
    """Trailing blanks would wrap when the window becomes narrower."""
    long = "word " * 50
    drawn = "".join(Drawing(COLOURED, 40).piece(piece) for piece in (Prose(long), Listing("x = 1", "python")))

    assert not any(line.endswith(" ") for line in SGR.sub("", drawn).split("\n"))
